import { isFinal, type PolledRecord, type PollErrorClass, type PollShortage } from '../domain/poll-answers';
import { type TaskError } from '../domain/video-task';
import { recordDigest } from '../service/get-video';
import { type GetVideoResult } from '../service/media-client';

/**
 * State that all ticks of a process share: the GETs in flight and late answers, the limits of each task and model, and
 * whether the sockets suffice.
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

/** One GET of a task. */
export interface OpenPoll {
  readonly askedAt: number;
  readonly ended: Promise<EndedPoll>;
  /** Set when the GET has ended. */
  end?: EndedPoll;
  /** Ticks that ended before this GET. */
  missedBy: number;
}

/** An answer that arrived after the end of its tick. */
export interface KeptReply {
  readonly askedAt: number;
  readonly reply: PollReply;
}

interface Owed {
  readonly askedAt: number;
  readonly endedAt: number;
  readonly reply: PollReply;
  /** Ticks that have not received it. */
  to: number;
}

/** Longer than any pause between two ticks of one task, so the next tick finds a missed answer. */
const KEPT_MS = 120_000;
/** As many tasks as one worker has in flight; their answers are small. */
const MAX_KEPT = 20_000;
/** Longest text of the service that is reported as the reason of a failed poll, in characters. */
const MAX_REASON = 200;

/**
 * The GETs in flight, one for each task, and the answers that arrived between ticks. An answer is kept for as many
 * ticks as missed it, so the answers of a service that takes about an interval are not lost.
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
    // Also after a rejection: otherwise the task could never be polled again.
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

  /** A tick ended before this GET did. */
  miss(task: string, poll: OpenPoll): void {
    poll.missedBy += 1;
    // It ended just after the tick.
    if (poll.end !== undefined) this.keep(task, poll.end, poll.missedBy);
  }

  /** Takes the answer for a task that a tick has missed. */
  take(task: string): KeptReply | undefined {
    const owed = this.kept.get(task);
    if (owed === undefined) return undefined;
    owed.to -= 1;
    const age = this.now() - owed.endedAt;
    if (owed.to <= 0 || age > KEPT_MS) this.kept.delete(task);
    if (age > KEPT_MS) return undefined;
    return { askedAt: owed.askedAt, reply: aged(owed.reply, age) };
  }

  /** Whether a kept answer ends the watch of its task. */
  keepsFinal(task: string): boolean {
    const reply = this.kept.get(task)?.reply;
    return reply !== undefined && 'record' in reply && isFinal(reply.record);
  }

  private keep(task: string, { askedAt, endedAt, result }: EndedPoll, to: number): void {
    // Reinserted at the end, so the first is always the oldest.
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

/** Short, because every tick of a failing task sends it; empty if the service gave neither code nor text. */
function reasonOf(error: TaskError | undefined): { readonly reason?: TaskError } {
  if (error === undefined || (error.code === null && error.message === null)) return {};
  const { kind, code, message } = error;
  const short =
    message !== null && message.length > MAX_REASON ? `${message.slice(0, MAX_REASON - 1)}…` : message;
  return { reason: { kind, code, message: short } };
}

/** Retry-After counts from the time of the reply. */
function aged(reply: PollReply, ageMs: number): PollReply {
  if (!('error' in reply) || reply.retryAfterMs === undefined) return reply;
  return { ...reply, retryAfterMs: Math.ceil(Math.max(0, reply.retryAfterMs - ageMs)) };
}

/**
 * Two limits of a whole process, whatever the workflows request: the shortest time between two polls of one task, and
 * the gate that the first 429 of an (account, model) closes until its Retry-After.
 */
export class PollGate {
  private readonly polls = new Map<string, LastPoll>();
  private readonly closedUntil = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Milliseconds until this task may be polled again. */
  floorWait(task: string, minIntervalMs: number): number {
    const last = this.polls.get(task);
    return last === undefined ? 0 : Math.max(0, last.at + minIntervalMs - this.now());
  }

  /** When this process last polled a task, in milliseconds of `performance.now`; `-Infinity` for never. */
  lastPolled(task: string): number {
    return this.polls.get(task)?.at ?? -Infinity;
  }

  polled(task: string): void {
    const known = this.polls.get(task);
    // Updated in place: thousands of new entries a second would be costly garbage.
    if (known !== undefined) {
      known.at = this.now();
      known.again = true;
    } else {
      if (this.polls.size >= MAX_REMEMBERED) this.forgetOne();
      this.polls.set(task, { at: this.now(), again: false });
    }
  }

  /** Forgets the oldest entry that was not polled again since the last check. */
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

  /** Milliseconds for which the model stays closed; 0 when it is open. */
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

/** More tasks than one worker has in flight. */
const MAX_REMEMBERED = 100_000;

/** Long enough for several ticks of every interval. */
const WINDOW_MS = 60_000;
/** Shortest time between two warnings. */
const QUIET_MS = 10 * 60_000;
/** Share of tasks without a GET in time from which a shortage is reported. */
const NOTABLE = 0.1;
/** Factor above the mean latency, because latencies vary. */
const SPARE = 1.3;

/** Checks whether the sockets for polls suffice for the tasks in flight at the latency of the service. */
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

  /** Counts an ended GET. */
  end(): void {
    this.ended += 1;
  }

  /**
   * Ends a tick: counts the GETs that were due, and those that it could not send in time.
   * @returns how many sockets would suffice, if the shortage lasts; at most once in ten minutes
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
    // All sockets were busy all the time. A GET that is open for longer than an interval is not sent a second time.
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
