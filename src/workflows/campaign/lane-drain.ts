/** How long downloads are waited for before a run is left behind; the next one starts the others again. */
const DRAIN_DOWNLOADS_MS = 15_000;

/** The end of a lane's run: nothing is begun any more, and what is under way is waited for. */
export class LaneDrain {
  private since: number | null = null;

  begin(now: number): void {
    this.since ??= now;
  }

  isOn(): boolean {
    return this.since !== null;
  }

  /** Until when downloads are waited for. */
  patienceEndsAt(): number {
    return (this.since ?? Infinity) + DRAIN_DOWNLOADS_MS;
  }

  /** Whether the run waits for something that takes long: creates may wait for a worker for a day. */
  isLate(now: number): boolean {
    return now >= this.patienceEndsAt();
  }
}
