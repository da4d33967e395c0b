import { sleep } from '@temporalio/workflow';

/**
 * Wakes a loop at the earliest of the times that it was asked for. Timers are never cancelled: one that fires for
 * nothing costs less history than cancelling and starting one at every change.
 */
export class Alarm {
  private nextAt = Infinity;

  constructor(private readonly wake: () => void) {}

  /** Workflow time in milliseconds. */
  at(time: number): void {
    // A second is as fine as anything here has to be; it lets near times share a timer.
    const rounded = Math.ceil(time / 1000) * 1000;
    if (rounded >= this.nextAt) return;
    this.nextAt = rounded;
    void sleep(Math.max(1, rounded - Date.now()), { summary: 'look again' }).then(
      () => {
        if (this.nextAt === rounded) this.nextAt = Infinity;
        this.wake();
      },
      // The workflow was cancelled: its loop ends by itself.
      () => undefined,
    );
  }
}
