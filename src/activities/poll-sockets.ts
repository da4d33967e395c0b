import { type PollShortage } from '../domain/poll-answers';

/** Long enough to see several ticks of every cadence. */
const WINDOW_MS = 60_000;
/** A warning that nobody heeds is repeated, but not with every tick. */
const QUIET_MS = 10 * 60_000;
/** Share of the tasks that no GET reached in time, from which on it is no accident. */
const NOTABLE = 0.1;
/** Latencies vary: so much more than their mean asks for. */
const SPARE = 1.3;

/** Whether the sockets for polls do for the tasks in flight at the latency of the service. */
export class PollSockets {
  private since = 0;
  private wanted = 0;
  private unreached = 0;
  private ended = 0;
  private quietUntil = 0;

  constructor(
    private readonly connections: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** A GET came to its end. */
  end(): void {
    this.ended += 1;
  }

  /**
   * The end of a tick that wanted GETs for so many tasks and came too late to send some of them.
   * @returns what would do, when that has gone on for a while; once in ten minutes
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
    // All sockets were busy all the time. One that is open for longer than an interval is not missed a second time.
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
