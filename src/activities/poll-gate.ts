import { setNewest } from '../domain/set-newest';

/**
 * Two lower bounds that hold for a whole process, whatever workflows ask (C8.2, C7.4): the shortest time between two
 * polls of one task, and the gate that the first 429 of an (account, model) closes until its Retry-After.
 */
export class PollGate {
  private readonly lastPollAt = new Map<string, number>();
  private readonly closedUntil = new Map<string, number>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Milliseconds until this task may be polled again. */
  floorWait(task: string, minIntervalMs: number): number {
    const last = this.lastPollAt.get(task);
    return last === undefined ? 0 : Math.max(0, last + minIntervalMs - this.now());
  }

  /** When this process polled a task last, in milliseconds since the epoch; 0 for never. */
  lastPolled(task: string): number {
    return this.lastPollAt.get(task) ?? 0;
  }

  polled(task: string): void {
    setNewest(this.lastPollAt, task, this.now(), MAX_REMEMBERED);
  }

  close(accountAndModel: string, forMs: number): void {
    const until = this.now() + forMs;
    this.closedUntil.set(accountAndModel, Math.max(until, this.closedUntil.get(accountAndModel) ?? 0));
  }

  /** Milliseconds for which the model stays closed; 0 when it is open. */
  closedFor(accountAndModel: string): number {
    const until = this.closedUntil.get(accountAndModel);
    if (until === undefined) return 0;
    const left = until - this.now();
    if (left <= 0) this.closedUntil.delete(accountAndModel);
    return Math.max(0, left);
  }
}

/** More tasks than any one worker holds in flight. */
const MAX_REMEMBERED = 100_000;
