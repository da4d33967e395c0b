import { type PollShortage } from '../domain/poll-answers';

/** Long enough for several ticks of every cadence. */
const WINDOW_MS = 60_000;
/** Shortest time between two warnings. */
const QUIET_MS = 10 * 60_000;
/** Share of tasks without a GET in time from which on a shortage is reported. */
const NOTABLE = 0.1;
/** Factor above the mean latency, because latencies vary. */
const SPARE = 1.3;

/** Checks whether the sockets for polls suffice for the tasks in flight at the latency of the service. */
export class PollSockets {
  private since = -Infinity;
  private wanted = 0;
  private unreached = 0;
  private ended = 0;
  private quietUntil = -Infinity;

  constructor(
    private readonly connections: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts an ended GET. */
  end(): void {
    this.ended += 1;
  }

  /**
   * Records the end of a tick: how many GETs it wanted, and how many it could not send in time.
   * @returns how many sockets would suffice, when the shortage lasts; at most once in ten minutes
   */
  validate(tick: {
    readonly wanted: number;
    readonly unreached: number;
    readonly intervalMs: number;
  }): PollShortage | undefined {
    const now = this.now();
    if (now - this.since >= 2 * WINDOW_MS) {
      this.begin(now);
      return undefined;
    }
    this.wanted += tick.wanted;
    this.unreached += tick.unreached;
    if (now - this.since < WINDOW_MS) return undefined;
    const found = this.found(now - this.since, tick.intervalMs);
    this.begin(now);
    if (found === undefined || now < this.quietUntil) return undefined;
    this.quietUntil = now + QUIET_MS;
    return found;
  }

  private found(windowMs: number, intervalMs: number): PollShortage | undefined {
    if (this.ended === 0 || this.unreached < NOTABLE * this.wanted) return undefined;
    // All sockets were busy all the time. A GET that is open for longer than an interval is not sent a second time.
    const latencyMs = Math.min((this.connections * windowMs) / this.ended, intervalMs);
    const needed = Math.ceil((SPARE * this.wanted * latencyMs) / windowMs);
    return needed > this.connections ? { connections: this.connections, needed } : undefined;
  }

  private begin(now: number): void {
    this.since = now;
    this.wanted = 0;
    this.unreached = 0;
    this.ended = 0;
  }
}
