import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { throwBug } from '../../domain/bug';
import { SIGNAL } from '../../domain/names';
import { type BatchReport } from '../../domain/campaign/messages';

/** Minimum between two reports, delay of the first, maximum for a batch that may still buy, in milliseconds. */
const PACE_MS = 1_000;
const FIRST_MS = 3_000;
const SIGN_OF_LIFE_MS = 120_000;

/** Sends the reports of a batch to its campaign: every report is the whole state of the batch. */
export class BatchParent {
  private lastAt: number;
  private dueAt: number;
  private sending = false;
  private n = 0;
  /** The last report could not be delivered: nothing more is started. */
  gone = false;

  constructor(
    private readonly campaign: string,
    now: number,
    private readonly onChange: () => void,
  ) {
    this.lastAt = now;
    this.dueAt = now + FIRST_MS;
  }

  /** Requests a report, at the latest `withinMs` milliseconds after the last one. */
  notify(withinMs = PACE_MS): void {
    this.dueAt = Math.min(this.dueAt, this.lastAt + withinMs);
  }

  /**
   * Sends a report when one is due.
   * @param buys whether the batch may still buy: then a report is due at least every two minutes
   * @returns when the next report is due, in workflow time
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

  /** A number above all earlier ones, also those of a run that a reset has undone: workflow time never goes back. */
  nextNumber(now: number): number {
    return Math.max(this.n + 1, now);
  }

  private async send(report: BatchReport): Promise<void> {
    try {
      await getExternalWorkflowHandle(this.campaign).signal(SIGNAL.campaignReport, report);
    } catch (error) {
      throwBug(error);
      // The signal fails when no workflow runs under that id: the campaign was terminated, but not this batch.
      this.gone = true;
    }
    this.sending = false;
    this.onChange();
  }
}
