import { workflowInfo } from '@temporalio/workflow';
import { type LaneSettings } from '../../domain/campaign/lane-state';

/** A run is left behind at this many bytes of history too. */
const MAX_BYTES = 2_000_000;
/** For as much more than it should have a run goes on without new image calls, until those that are open have ended. */
const WITH_DRAWS = 1.5;

/** How full the history of a lane's run is. */
export class RunFill {
  private begunAt = { events: 0, bytes: 0 };

  constructor(private readonly settings: Pick<LaneSettings, 'eventsPerRun' | 'drawsEndFirst'>) {}

  /** Counted from here: opening the pages of the run before must not end this one at once. */
  begin(): void {
    const { historyLength, historySize } = workflowInfo();
    this.begunAt = { events: historyLength, bytes: historySize };
  }

  /** Whether the run should be left behind. @param drawing whether an image call is open, which may take minutes */
  isFull(drawing: boolean): boolean {
    const { continueAsNewSuggested } = workflowInfo();
    const most = drawing && this.settings.drawsEndFirst === true ? WITH_DRAWS : 1;
    return continueAsNewSuggested || this.share() >= most;
  }

  /** Whether another image call may begin: while the last ones end, nothing else has to wait for them. */
  mayDraw(): boolean {
    return this.settings.drawsEndFirst !== true || this.share() < 1;
  }

  private share(): number {
    const { historyLength, historySize } = workflowInfo();
    const { events, bytes } = this.begunAt;
    return Math.max((historyLength - events) / this.settings.eventsPerRun, (historySize - bytes) / MAX_BYTES);
  }
}
