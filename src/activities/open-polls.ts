import { type PolledRecord, type PollErrorClass } from '../domain/poll-answers';
import { type TaskError } from '../domain/video-task';
import { type GetVideoResult } from '../service/media-client';
import { recordDigest } from '../service/get-video';

/** The result of a GET, without the parts that never leave the activity (architecture: Poll). */
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

/** An answer that came after the end of its tick. */
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

/** Longer than any pause between two ticks of one task, so that the tick after a missed answer finds it. */
const KEPT_MS = 120_000;
/** As many tasks as one worker has in flight; their answers are small. */
const MAX_KEPT = 20_000;
/** Longest text of a service, in characters, that is passed on as the reason of a poll without a record. */
const MAX_REASON = 200;

/**
 * The GETs in flight, one for each task, and the answers that came between ticks. An answer is kept for as many ticks
 * as missed it, so that those of a service that needs about an interval for an answer are not lost.
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
    // Also where it is rejected: nobody could poll the task any more.
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

  /** Whether an answer is kept that ends the watch of its task. */
  keepsFinal(task: string): boolean {
    const reply = this.kept.get(task)?.reply;
    return reply !== undefined && 'record' in reply && isFinal(reply.record);
  }

  private keep(task: string, { askedAt, endedAt, result }: EndedPoll, to: number): void {
    // Reinserted at the end, so that the first is always the oldest.
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

/** Short, because it is sent with every tick of a failing task; empty where the service gave no code and no text. */
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

function isFinal({ phase }: PolledRecord): boolean {
  return phase === 'completed' || phase === 'failed';
}
