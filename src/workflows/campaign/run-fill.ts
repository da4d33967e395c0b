import { workflowInfo } from '@temporalio/workflow';
import { type LaneSettings } from '../../domain/campaign/lane-state';

/** A run is left behind at this many bytes of history too. */
const MAX_BYTES = 2_000_000;
/** For as much more than it should have a run goes on without new image calls, until those that are open have ended. */
const WITH_DRAWS = 1.5;
/** Opening pages that fill less of a run than this make no difference to it. */
const MUCH = 0.5;

interface Mark {
  readonly events: number;
  readonly bytes: number;
  /** The server said by then that the run should be left behind. */
  readonly suggested: boolean;
}

/** How full the history of a lane's run is. */
export class RunFill {
  private begunAt: Mark = { events: 0, bytes: 0, suggested: false };
  private openedAt: Mark | null = null;

  constructor(private readonly settings: Pick<LaneSettings, 'eventsPerRun'>) {}

  /** The rows of the run before are taken up: counted from here. */
  begin(): void {
    this.begunAt = mark();
  }

  /** All pages that the run began with are open. Later ones count. */
  opened(): void {
    this.openedAt ??= mark();
  }

  /**
   * Whether the run should be left behind. Opening the pages that it began with must not end it: the run after it would
   * open them as well, and so on for ever. @param drawing whether an image call is open, which may take minutes
   */
  isFull(drawing: boolean): boolean {
    const { continueAsNewSuggested } = workflowInfo();
    const most = drawing ? WITH_DRAWS : 1;
    if (!continueAsNewSuggested && this.share(this.begunAt, mark()) < most) return false;
    const { openedAt } = this;
    if (openedAt !== null && !openedAt.suggested) {
      if (continueAsNewSuggested || this.share(this.begunAt, openedAt) < MUCH) return true;
    }
    return openedAt !== null && this.share(openedAt, mark()) >= most;
  }

  /** Whether another image call may begin: while the last ones end, nothing else has to wait for them. */
  mayDraw(): boolean {
    return this.share(this.begunAt, mark()) < 1;
  }

  private share(from: Mark, to: Mark): number {
    return Math.max(
      (to.events - from.events) / this.settings.eventsPerRun,
      (to.bytes - from.bytes) / MAX_BYTES,
    );
  }
}

function mark(): Mark {
  const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
  return { events: historyLength, bytes: historySize, suggested: continueAsNewSuggested };
}
