import { given } from './json';
import { type LastPollError, type WatchFacts } from './outcome';
import { type PollAnswer, type PolledRecord, type PollErrorClass } from './poll-answers';
import { amount, anyText, type Check, messageOf, number, optional, orNull, text, whole } from './shape';
import { type VideoState } from './video-state';
import { type TaskError, type VideoTask, videoTaskCheck } from './video-task';

/**
 * A watched task as plain data, which survives continue-as-new. All times are milliseconds since the Unix epoch, in
 * workflow time.
 */
export interface WatchState {
  /** The task that is polled. */
  readonly video: VideoTask;
  /** When the wait began. */
  readonly startedAt: number;
  /** When the caller's `waitFor` ends. */
  readonly deadlineAt: number;
  /**
   * When the execution expires, minus the time needed for a last poll; null if it never expires (architecture: Wait).
   */
  readonly hardEndAt: number | null;
  /** When the next poll is due. */
  readonly dueAt: number;
  /** The task is never polled before this time, which Retry-After sets; 0 if the service sent no Retry-After. */
  readonly notBefore: number;
  /** Digest of the last record received; `''` before the first record. */
  readonly seen: string;
  /** The last status that the service reported; null before the first record, or if the service sent none. */
  readonly lastStatus: string | null;
  /** When the result of a completed task expires at the service, according to its record. */
  readonly expiresAt: string | null;
  /** The last progress number that the service sent; null if it sent none. */
  readonly progress: number | null;
  /** When the record last changed; null before the first record. */
  readonly lastChangeAt: number | null;
  /** Time of the last poll; null before the first poll. */
  readonly lastPollAt: number | null;
  /** Number of polls that the service answered or that failed in transit. */
  readonly polls: number;
  /** Number of consecutive polls that returned no record. */
  readonly errors: number;
  /** Null if the last poll returned a record. */
  readonly lastError: LastPollError | null;
  /** Time of the first of the current consecutive 400 or 404 answers; null if there are none. */
  readonly unknownSince: number | null;
  /** Number of these consecutive answers; 0 if the last answer was different. */
  readonly unknownCount: number;
  /** Consecutive ticks at or after the deadline without an answer in time. Three of them end the wait (end-of-wait). */
  readonly missedAtDeadline: number;
}

/** A task that a loop polls. The loop's owner can store additional fields. */
export interface Watch {
  /** Updated by the loop. */
  state: WatchState;
}

const time = amount(0, 8.64e15);
const count = whole(0);

export const watchStateCheck: Check<WatchState> = messageOf({
  video: videoTaskCheck,
  startedAt: time,
  deadlineAt: time,
  hardEndAt: orNull(time),
  dueAt: time,
  notBefore: time,
  seen: text(100),
  lastStatus: orNull(anyText),
  expiresAt: orNull(anyText),
  progress: orNull(number),
  lastChangeAt: orNull(time),
  lastPollAt: orNull(time),
  polls: count,
  errors: count,
  lastError: orNull(
    messageOf<LastPollError>({
      class: anyText as Check<PollErrorClass>,
      httpStatus: optional(number),
      reason: optional(
        messageOf<TaskError>({
          kind: anyText as Check<TaskError['kind']>,
          code: orNull(anyText),
          message: orNull(anyText),
        }),
      ),
    }),
  ),
  unknownSince: orNull(time),
  unknownCount: count,
  missedAtDeadline: count,
});

interface BeginWatch {
  readonly video: VideoTask;
  readonly now: number;
  readonly deadlineAt: number;
  readonly firstPollAt: number;
  readonly hardEndAt?: number | null;
  /** Status in the create reply; null or `''` if it had none. */
  readonly lastStatus?: string | null;
}

export function beginWatch(begin: BeginWatch): WatchState {
  const { video, now, deadlineAt, firstPollAt, hardEndAt, lastStatus } = begin;
  return {
    video,
    startedAt: now,
    deadlineAt,
    hardEndAt: hardEndAt ?? null,
    dueAt: firstPollAt,
    notBefore: 0,
    seen: '',
    lastStatus: lastStatus === '' ? null : (lastStatus ?? null),
    expiresAt: null,
    progress: null,
    lastChangeAt: null,
    lastPollAt: null,
    polls: 0,
    errors: 0,
    lastError: null,
    unknownSince: null,
    unknownCount: 0,
    missedAtDeadline: 0,
  };
}

/** Handles a record that is new or has changed. The GET was sent in this tick or an earlier one. */
export function onRecord(
  state: WatchState,
  record: PolledRecord,
  digest: string,
  askedAt: number,
  tickAt = askedAt,
): WatchState {
  return {
    ...onUnchanged(state, askedAt, tickAt),
    seen: digest,
    lastStatus: record.status,
    expiresAt: record.expiresAt ?? null,
    progress: record.progress ?? null,
    lastChangeAt: askedAt,
  };
}

export function onUnchanged(state: WatchState, askedAt: number, tickAt = askedAt): WatchState {
  return {
    ...state,
    dueAt: tickAt,
    notBefore: 0,
    lastPollAt: askedAt,
    polls: state.polls + 1,
    errors: 0,
    lastError: null,
    unknownSince: null,
    unknownCount: 0,
    missedAtDeadline: missedBefore(state, askedAt, tickAt),
  };
}

/**
 * Returns the number of missed ticks after an answer. A GET sent before the deadline does not show the state at the
 * deadline.
 */
function missedBefore(state: WatchState, askedAt: number, tickAt: number): number {
  return askedAt >= state.deadlineAt ? state.missedAtDeadline : missedTicks(state, tickAt);
}

export type PollFailure = Omit<Extract<PollAnswer, { error: unknown }>, 'index'>;

/**
 * Handles a poll that returned no record. The poll was sent in the tick that started at `at`, or earlier.
 * `minIntervalMs` is the band's shortest interval, and `random` is in [0, 1). Retry-After counts from the reply, which
 * arrived by `answeredAt`.
 */
export function onPollError(
  state: WatchState,
  failure: PollFailure,
  at: number,
  minIntervalMs: number,
  random: number,
  answeredAt: number = at,
): WatchState {
  const notBefore = failure.retryAfterMs === undefined ? 0 : answeredAt + failure.retryAfterMs;
  if (failure.error === 'late' || failure.unsent === true) return unanswered(state, failure, at, notBefore);
  const askedAt = at - (failure.askedMsAgo ?? 0);
  const { error, httpStatus, reason } = failure;
  const unknown = isUnknownAnswer(error);
  return {
    ...state,
    dueAt: askedAt + errorDelayMs(state, error, minIntervalMs, random),
    notBefore,
    lastPollAt: askedAt,
    polls: state.polls + 1,
    errors: state.errors + 1,
    lastError: { class: error, ...given({ httpStatus, reason }) },
    unknownSince: unknown ? (state.unknownSince ?? askedAt) : null,
    unknownCount: unknown ? state.unknownCount + 1 : 0,
    missedAtDeadline: missedBefore(state, askedAt, at),
  };
}

/** Delay between polls while the credentials are rejected (C7.3). */
export const CREDENTIALS_RETRY_MS = 60_000;
/** Longest backoff that this package chooses. Retry-After can be longer. */
export const MAX_BACKOFF_MS = 60_000;

/** Returns the delay after a poll that returned no record, in milliseconds. */
function errorDelayMs(
  state: WatchState,
  error: PollErrorClass,
  minIntervalMs: number,
  random: number,
): number {
  if (error === 'credentials') return CREDENTIALS_RETRY_MS;
  // The grace period requires a number of answers and a number of seconds. The regular cadence suits both.
  if (isUnknownAnswer(error) && !isKnown(state)) return 0;
  const ceiling = Math.min(MAX_BACKOFF_MS, minIntervalMs * 2 ** Math.min(state.errors + 1, 10));
  return Math.max(minIntervalMs, Math.round(ceiling * (0.5 + random / 2)));
}

function isUnknownAnswer(error: PollErrorClass): boolean {
  return error === 'not_found' || error === 'bad_request';
}

export function onNoAnswer(state: WatchState, at: number): WatchState {
  return unanswered(state, { error: 'late' }, at, 0);
}

/** Handles a task that was not polled or has no answer yet. At or after the deadline, this counts as a lost tick. */
function unanswered(state: WatchState, failure: PollFailure, at: number, notBefore: number): WatchState {
  return {
    ...state,
    // If the worker lacks the account, the tick is lost. The next tick may reach a worker that has it.
    dueAt: at,
    notBefore: Math.max(state.notBefore, notBefore),
    lastError: failure.error === 'late' ? state.lastError : { class: failure.error },
    missedAtDeadline: missedTicks(state, at),
  };
}

function missedTicks(state: WatchState, at: number): number {
  return at >= state.deadlineAt ? state.missedAtDeadline + 1 : 0;
}

/**
 * Handles a notification that the task may be done. The next poll is due immediately, but not before the shortest
 * interval has passed since the last poll. Backoff after errors and Retry-After still apply.
 */
export function onNudge(state: WatchState, now: number, minIntervalMs: number): WatchState {
  if (state.errors > 0) return state;
  const soonest = Math.max(now, (state.lastPollAt ?? state.startedAt) + minIntervalMs);
  return { ...state, dueAt: Math.min(state.dueAt, soonest) };
}

/** Whether a poll of this task has ever returned a record, in this run or an earlier one. */
export function isKnown({ seen }: WatchState): boolean {
  return seen !== '';
}

/** Handles a tick whose activity failed entirely. It is a missed tick, never a failed watch (architecture: Wait). */
export function onMissedTick(state: WatchState, at: number): WatchState {
  return unanswered(state, { error: 'worker_unavailable' }, at, 0);
}

export function watchFacts(state: WatchState): WatchFacts {
  return {
    lastStatus: state.lastStatus,
    ...(state.progress === null ? {} : { progress: state.progress }),
    lastChangeAt: iso(state.lastChangeAt),
    lastPollAt: iso(state.lastPollAt),
    polls: state.polls,
    ...(state.lastError === null ? {} : { lastError: state.lastError }),
    ...(state.expiresAt === null ? {} : { expiresAt: state.expiresAt }),
  };
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

type PollFacts = Pick<
  VideoState,
  'watch' | 'lastChangeAt' | 'lastPollAt' | 'polls' | 'lastHttpStatus' | 'consecutiveErrors'
>;

/**
 * Returns the facts that a watch reports about its polls. `state` is `undefined` before the watch begins (architecture:
 * Wait).
 */
export function pollFacts(state: WatchState | undefined): PollFacts {
  if (state === undefined) {
    const none = { watch: null, lastChangeAt: null, lastPollAt: null, lastHttpStatus: null };
    return { ...none, polls: 0, consecutiveErrors: 0 };
  }
  const watch = watchFacts(state);
  const { lastChangeAt, lastPollAt, polls } = watch;
  const lastHttpStatus = lastStatusOf(state);
  return { watch, lastChangeAt, lastPollAt, polls, lastHttpStatus, consecutiveErrors: state.errors };
}

function lastStatusOf({ lastError, lastPollAt }: WatchState): number | null {
  if (lastError !== null) return lastError.httpStatus ?? null;
  return lastPollAt === null ? null : 200;
}
