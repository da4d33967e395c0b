import { sleep } from '@temporalio/workflow';

/**
 * Wakes a loop at the earliest requested time. Timers are never cancelled: one that fires without need costs less
 * history than cancelling and starting one at every change.
 */
export class Alarm {
  private nextAt = Infinity;
  /** Time of the latest timer that has fired. */
  private firedAt = 0;

  constructor(private readonly wake: () => void) {}

  /** Workflow time, and never before that of a timer that has fired: see `PollLoop`. */
  now(): number {
    return Math.max(Date.now(), this.firedAt);
  }

  /** Workflow time in milliseconds. */
  at(time: number): void {
    // A resolution of one second is enough, and lets close times share a timer.
    const rounded = Math.ceil(time / 1000) * 1000;
    if (rounded >= this.nextAt) return;
    this.nextAt = rounded;
    void sleep(Math.max(1, rounded - Date.now()), { summary: 'check again' }).then(
      () => {
        this.firedAt = Math.max(this.firedAt, rounded);
        if (this.nextAt === rounded) this.nextAt = Infinity;
        this.wake();
      },
      // The workflow was cancelled: its loop ends by itself.
      () => undefined,
    );
  }
}
