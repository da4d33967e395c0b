import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { SIGNAL } from '../../domain/names';
import { type BatchReport } from '../../domain/campaign/messages';

/** Between two reports at least; the first one; and a sign of life of a batch that may still buy, in milliseconds. */
const PACE_MS = 1_000;
const FIRST_MS = 3_000;
const SIGN_OF_LIFE_MS = 120_000;

/** The batch's side of the talk with its campaign: every report is its whole state. */
export class BatchParent {
  private lastAt: number;
  private dueAt: number;
  private sending = false;
  private n = 0;
  /** Nobody was there for the last report: nothing more is started. */
  gone = false;

  constructor(
    private readonly campaign: string,
    now: number,
    private readonly onChange: () => void,
  ) {
    this.lastAt = now;
    this.dueAt = now + FIRST_MS;
  }

  /** There is something that the campaign should know, at latest so many milliseconds after the last report. */
  notify(withinMs = PACE_MS): void {
    this.dueAt = Math.min(this.dueAt, this.lastAt + withinMs);
  }

  /**
   * Sends a report when one is due.
   * @param buys whether it may still buy: then it shows now and then that it lives
   * @returns when the next is due, in workflow time
   */
  report(now: number, buys: boolean, make: (n: number) => BatchReport): number {
    if (this.sending || this.gone) return Infinity;
    const dueAt = buys ? Math.min(this.dueAt, this.lastAt + SIGN_OF_LIFE_MS) : this.dueAt;
    if (now < dueAt) return dueAt;
    this.n = this.nextNumber(now);
    this.sending = true;
    this.lastAt = now;
    this.dueAt = Infinity;
    void this.send(make(this.n));
    return Infinity;
  }

  isSending(): boolean {
    return this.sending;
  }

  /** Of a report that follows all before it, those of a run that a reset has undone included: workflow time only goes on. */
  nextNumber(now: number): number {
    return Math.max(this.n + 1, now);
  }

  private async send(report: BatchReport): Promise<void> {
    try {
      await getExternalWorkflowHandle(this.campaign).signal(SIGNAL.campaignReport, report);
    } catch {
      // Signals fail when nobody runs under that id: it was terminated, and this batch was not ended with it.
      this.gone = true;
    }
    this.sending = false;
    this.onChange();
  }
}
