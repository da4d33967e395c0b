import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { SIGNAL } from '../../domain/names';
import { type LaneReport } from '../../domain/campaign/messages';

/** Between two reports at least, and between two signs of life at most, in milliseconds. */
const PACE_MS = 1_000;
const SIGN_OF_LIFE_MS = 60_000;
const IDLE_SIGN_OF_LIFE_MS = 5 * 60_000;

/** The lane's side of the talk: reports are whole states, repeated until the parent has seen them. */
export class LaneParent {
  private lastSentAt = 0;
  private sending = false;
  private news = true;
  private asked = false;
  /** The parent was not there at the last report: nothing more is bought (design 4.11). */
  gone = false;
  /** Since when it has been gone, in workflow time; null while it is there. */
  goneSince: number | null = null;

  constructor(
    private readonly campaign: string,
    private n: number,
    private readonly onChange: () => void,
  ) {}

  /** It gave an order. */
  isBack(): void {
    this.gone = false;
    this.goneSince = null;
  }

  /** The parent asks who is there. What may be bought it does not say. */
  ask(): void {
    this.asked = true;
  }

  /** There is something that the parent should know. */
  tell(): void {
    this.news = true;
  }

  /** Sends a report when one is due. @returns when the next is due, in workflow time */
  report(now: number, idle: boolean, make: (n: number) => LaneReport): number {
    const pause =
      this.asked || (this.news && !this.gone) ? PACE_MS : idle ? IDLE_SIGN_OF_LIFE_MS : SIGN_OF_LIFE_MS;
    const dueAt = this.lastSentAt + pause;
    if (this.sending || now < dueAt) return this.sending ? Infinity : dueAt;
    this.n += 1;
    this.sending = true;
    this.news = false;
    this.asked = false;
    this.lastSentAt = now;
    void this.send(make(this.n));
    return Infinity;
  }

  isSending(): boolean {
    return this.sending;
  }

  lastNumber(): number {
    return this.n;
  }

  private async send(report: LaneReport): Promise<void> {
    try {
      await getExternalWorkflowHandle(this.campaign).signal(SIGNAL.campaignReport, report);
      // What it may buy it is told by an order: a parent that was reset knows of other grants.
      this.goneSince = null;
    } catch {
      // Signals fail when nobody has that id: the parent was terminated, and may come back by a reset.
      this.gone = true;
      this.goneSince ??= Date.now();
      this.news = true;
    }
    this.sending = false;
    this.onChange();
  }
}
