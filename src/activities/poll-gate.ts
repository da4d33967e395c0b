/**
 * Two lower bounds that hold for a whole process, whatever workflows ask (C8.2, C7.4): the shortest time between two
 * polls of one task, and the gate that the first 429 of an (account, model) closes until its Retry-After.
 */
export class PollGate {
  private readonly polls = new Map<string, LastPoll>();
  private readonly closedUntil = new Map<string, number>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Milliseconds until this task may be polled again. */
  floorWait(task: string, minIntervalMs: number): number {
    const last = this.polls.get(task);
    return last === undefined ? 0 : Math.max(0, last.at + minIntervalMs - this.now());
  }

  /** When this process polled a task last, in milliseconds since the epoch; 0 for never. */
  lastPolled(task: string): number {
    return this.polls.get(task)?.at ?? 0;
  }

  polled(task: string): void {
    const known = this.polls.get(task);
    // In place: thousands of entries a second would be made anew otherwise, and live long enough to be costly garbage.
    if (known !== undefined) {
      known.at = this.now();
      known.again = true;
    } else {
      if (this.polls.size >= MAX_REMEMBERED) this.forgetOne();
      this.polls.set(task, { at: this.now(), again: false });
    }
  }

  /** The oldest that was not polled again since it was looked at last. */
  private forgetOne(): void {
    for (const [task, poll] of this.polls) {
      this.polls.delete(task);
      if (!poll.again) return;
      poll.again = false;
      this.polls.set(task, poll);
    }
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

interface LastPoll {
  /** In milliseconds since the epoch. */
  at: number;
  again: boolean;
}

/** More tasks than any one worker holds in flight. */
const MAX_REMEMBERED = 100_000;
