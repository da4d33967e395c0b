/** Pause after the service had no capacity and named no time, in milliseconds. */
const COOL_DOWN_MS = 5_000;

/**
 * How many calls of one (account, model) may be in flight: grows by one for every full round of successes and halves
 * at once when the service has no capacity (429, capacity), then pauses before it starts anything.
 */
export class AdaptiveLimit {
  private limit: number;
  /** Workflow time in milliseconds; nothing starts before. */
  private notBefore = 0;

  /** @param share the part of the ceiling that the service accepted before */
  constructor(
    private ceiling: number,
    share = 1,
  ) {
    this.limit = Math.max(1, Math.min(1, share) * ceiling);
  }

  /** How many more may start at `now` while `inFlight` are under way. */
  room(inFlight: number, now: number): number {
    return now < this.notBefore ? 0 : Math.max(0, Math.floor(this.limit) - inFlight);
  }

  opensAt(): number {
    return this.notBefore;
  }

  /** A limit that was never reduced follows its ceiling; a reduced one grows by itself. */
  setCeiling(ceiling: number): void {
    this.limit = this.limit >= this.ceiling ? ceiling : Math.min(this.limit, ceiling);
    this.ceiling = ceiling;
  }

  onSuccess(): void {
    if (this.limit < this.ceiling) this.limit = Math.min(this.ceiling, this.limit + 1 / this.limit);
  }

  /** `until`: the service's own Retry-After in workflow time, never shortened (C8.7). */
  onNoRoom(inFlight: number, now: number, until: number | null): void {
    // Only the first refusal of a burst halves the limit: the other calls were sent before it was known.
    if (now >= this.notBefore) this.limit = Math.max(1, Math.min(this.limit, Math.max(1, inFlight)) / 2);
    this.notBefore = Math.max(this.notBefore, until ?? now + COOL_DOWN_MS);
  }

  /** The limit as a part of its ceiling; 1 when it was never reduced. */
  share(): number {
    return this.ceiling === 0 ? 1 : Math.min(1, this.limit / this.ceiling);
  }
}
