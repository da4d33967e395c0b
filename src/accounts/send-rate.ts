/** When a paid request may be sent: after a pause, or only when its call comes back. */
export type Permit = { readonly inMs: number } | { readonly heldForMs: number };

/** Longest pause, in milliseconds, for which a call keeps its slot of the worker; others would wait behind it. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Limit on the paid requests of one account in one process: they are evenly spaced. A call that would have to pause for
 * long is told when to come back, each a little later than the one before, so that they do not come back together.
 */
export class SendRate {
  private readonly everyMs: number;
  /** When the next request may be sent, in milliseconds of {@link clock}. */
  private next = 0;
  /** When the last call that was sent away comes back. */
  private promised = 0;

  /** @param clock milliseconds that never step back */
  constructor(
    perSecond: number,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.everyMs = 1_000 / perSecond;
  }

  /** Takes the next permit if it comes soon. */
  take(): Permit {
    const now = this.clock();
    const at = Math.max(this.next, now);
    if (at - now <= LONGEST_PAUSE_MS) {
      this.next = at + this.everyMs;
      return { inMs: at - now };
    }
    this.promised = Math.max(this.promised + this.everyMs, at);
    return { heldForMs: this.promised - now };
  }

  /** Counts a request that cannot wait; those after it wait behind it. */
  count(): void {
    this.next = Math.max(this.next, this.clock()) + this.everyMs;
  }
}
