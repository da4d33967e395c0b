import { isFinal, type PolledRecord, type PollErrorClass, type PollShortage } from '../domain/poll-answers';
import { type TaskError } from '../domain/video-task';
import { recordDigest } from '../service/get-video';
import { type GetVideoResult } from '../service/media-client';

/**
 * State shared by all of a process's ticks: the GETs in flight and late answers, the limits for each task and model,
 * and whether there are enough sockets.
 *
 * @module
 */

/** The result of a GET, without the parts that never leave the activity (architecture: Wait). */
export type PollReply =
  | { readonly digest: string; readonly record: PolledRecord }
  | {
      readonly error: PollErrorClass;
      readonly httpStatus?: number;
      readonly retryAfterMs?: number;
      readonly reason?: TaskError;
    };

export interface EndedPoll {
  /** In milliseconds of `performance.now`. */
  readonly askedAt: number;
  readonly endedAt: number;
  readonly result: GetVideoResult;
}

/** A GET for one task. */
export interface OpenPoll {
  readonly askedAt: number;
  readonly ended: Promise<EndedPoll>;
  /** Set when the GET has ended. */
  end?: EndedPoll;
  /** Number of ticks that ended before this GET did. */
  missedBy: number;
}

/** An answer that arrived after its tick had ended. */
export interface KeptReply {
  readonly askedAt: number;
  readonly reply: PollReply;
}

interface Owed {
  readonly askedAt: number;
  readonly endedAt: number;
  readonly reply: PollReply;
  /** Number of ticks that have yet to receive the answer. */
  to: number;
}

/** Longer than any pause between two ticks for one task, so the next tick finds a missed answer. */
const KEPT_MS = 120_000;
/** Maximum number of kept answers: at least as many as one worker has tasks in flight. Answers are small. */
const MAX_KEPT = 20_000;
/** Maximum length of the service's text that is reported as a failed poll's reason, in characters. */
const MAX_REASON = 200;

/**
 * The GETs in flight, one per task, and the answers that arrived between ticks. An answer is kept for as many ticks as
 * missed it, so answers are not lost if the service takes about one interval to respond.
 */
export class OpenPolls {
  private readonly open = new Map<string, OpenPoll>();
  private readonly kept = new Map<string, Owed>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  of(task: string): OpenPoll | undefined {
    return this.open.get(task);
  }

  begin(task: string, get: () => Promise<GetVideoResult>): OpenPoll {
    const askedAt = this.now();
    // This also runs after a rejection. Otherwise, the task could never be polled again.
    const closed = get().finally(() => this.open.delete(task));
    const ended = closed.then((result) => {
      const end = { askedAt, endedAt: this.now(), result };
      poll.end = end;
      if (poll.missedBy > 0) this.keep(task, end, poll.missedBy);
      return end;
    });
    const poll: OpenPoll = { askedAt, ended, missedBy: 0 };
    this.open.set(task, poll);
    return poll;
  }

  /** Records that a tick ended before this GET did. */
  miss(task: string, poll: OpenPoll): void {
    poll.missedBy += 1;
    // The GET ended just after the tick.
    if (poll.end !== undefined) this.keep(task, poll.end, poll.missedBy);
  }

  /** Takes an answer for a task that an earlier tick missed. */
  take(task: string): KeptReply | undefined {
    const owed = this.kept.get(task);
    if (owed === undefined) return undefined;
    owed.to -= 1;
    const age = this.now() - owed.endedAt;
    if (owed.to <= 0 || age > KEPT_MS) this.kept.delete(task);
    if (age > KEPT_MS) return undefined;
    return { askedAt: owed.askedAt, reply: aged(owed.reply, age) };
  }

  /** Whether a kept answer ends its task's watch. */
  keepsFinal(task: string): boolean {
    const reply = this.kept.get(task)?.reply;
    return reply !== undefined && 'record' in reply && isFinal(reply.record);
  }

  private keep(task: string, { askedAt, endedAt, result }: EndedPoll, to: number): void {
    // Reinserted at the end, so the first entry is always the oldest.
    this.kept.delete(task);
    this.kept.set(task, { askedAt, endedAt, reply: replyOf(result), to });
    for (const [oldest, { endedAt: at }] of this.kept) {
      if (this.kept.size <= MAX_KEPT && endedAt - at <= KEPT_MS) break;
      this.kept.delete(oldest);
    }
  }
}

export function replyOf(result: GetVideoResult): PollReply {
  if (result.kind === 'record')
    return { digest: result.digest ?? recordDigest(result.record), record: result.record };
  return {
    error: result.error,
    ...(result.httpStatus === undefined ? {} : { httpStatus: result.httpStatus }),
    ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: result.retryAfterMs }),
    ...reasonOf(result.taskError),
  };
}

/**
 * Returns a failed poll's reason, kept short because every tick with a failing task sends it. Empty if the service
 * returned neither a code nor a message.
 */
function reasonOf(error: TaskError | undefined): { readonly reason?: TaskError } {
  if (error === undefined || (error.code === null && error.message === null)) return {};
  const { kind, code, message } = error;
  const short =
    message !== null && message.length > MAX_REASON ? `${message.slice(0, MAX_REASON - 1)}…` : message;
  return { reason: { kind, code, message: short } };
}

/** Deducts the reply's age from its Retry-After, which counts from the time of the reply. */
function aged(reply: PollReply, ageMs: number): PollReply {
  if (!('error' in reply) || reply.retryAfterMs === undefined) return reply;
  return { ...reply, retryAfterMs: Math.ceil(Math.max(0, reply.retryAfterMs - ageMs)) };
}

/**
 * Two limits for an entire process, whatever the workflows request: the minimum time between two polls of one task, and
 * a gate that closes on the first 429 for an account and model until Retry-After expires.
 */
export class PollGate {
  private readonly polls = new Map<string, LastPoll>();
  private readonly closedUntil = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Returns the milliseconds until this task may be polled again. */
  floorWait(task: string, minIntervalMs: number): number {
    const last = this.polls.get(task);
    return last === undefined ? 0 : Math.max(0, last.at + minIntervalMs - this.now());
  }

  /** Returns when this process last polled a task, in milliseconds of `performance.now`; `-Infinity` if never. */
  lastPolled(task: string): number {
    return this.polls.get(task)?.at ?? -Infinity;
  }

  polled(task: string): void {
    const known = this.polls.get(task);
    // Updated in place: thousands of new entries per second would cause costly garbage collection.
    if (known !== undefined) {
      known.at = this.now();
      known.again = true;
    } else {
      if (this.polls.size >= MAX_REMEMBERED) this.forgetOne();
      this.polls.set(task, { at: this.now(), again: false });
    }
  }

  /** Removes the oldest entry that has not been polled again since the last check. */
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
    this.closedUntil.set(accountAndModel, Math.max(until, this.closedUntil.get(accountAndModel) ?? until));
  }

  /** Returns the milliseconds for which the model remains closed; 0 if it is open. */
  closedFor(accountAndModel: string): number {
    const until = this.closedUntil.get(accountAndModel);
    if (until === undefined) return 0;
    const left = until - this.now();
    if (left <= 0) this.closedUntil.delete(accountAndModel);
    return Math.ceil(Math.max(0, left));
  }
}

interface LastPoll {
  /** In milliseconds of `performance.now`. */
  at: number;
  again: boolean;
}

/** More tasks than one worker ever has in flight. */
const MAX_REMEMBERED = 100_000;

/** Long enough for several ticks at any interval. */
const WINDOW_MS = 60_000;
/** Minimum time between two warnings. */
const QUIET_MS = 10 * 60_000;
/** A shortage is reported if at least this share of tasks had no timely GET. */
const NOTABLE = 0.1;
/** Factor applied to the mean latency, because latencies vary. */
const SPARE = 1.3;

/** Checks whether there are enough polling sockets for the tasks in flight at the service's latency. */
export class PollSockets {
  private since = -Infinity;
  private due = 0;
  private unreached = 0;
  private ended = 0;
  private quietUntil = -Infinity;

  constructor(
    private readonly connections: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts a GET that has ended. */
  end(): void {
    this.ended += 1;
  }

  /**
   * Ends a tick: counts the GETs that were due and those that it could not send in time.
   * @returns how many sockets would be enough, if the shortage persists; at most once every ten minutes
   */
  endTick(tick: {
    readonly due: number;
    readonly unreached: number;
    readonly intervalMs: number;
  }): PollShortage | undefined {
    const now = this.now();
    if (now - this.since >= 2 * WINDOW_MS) {
      this.begin(now);
      return undefined;
    }
    this.due += tick.due;
    this.unreached += tick.unreached;
    if (now - this.since < WINDOW_MS) return undefined;
    const found = this.found(now - this.since, tick.intervalMs);
    this.begin(now);
    if (found === undefined || now < this.quietUntil) return undefined;
    this.quietUntil = now + QUIET_MS;
    return found;
  }

  private found(windowMs: number, intervalMs: number): PollShortage | undefined {
    if (this.ended === 0 || this.unreached < NOTABLE * this.due) return undefined;
    // All sockets were busy the entire time. A GET that stays open longer than an interval is not sent a second time.
    const latencyMs = Math.min((this.connections * windowMs) / this.ended, intervalMs);
    const needed = Math.ceil((SPARE * this.due * latencyMs) / windowMs);
    return needed > this.connections ? { connections: this.connections, needed } : undefined;
  }

  private begin(now: number): void {
    this.since = now;
    this.due = 0;
    this.unreached = 0;
    this.ended = 0;
  }
}
