import { type PolledRecord } from './poll-answers';
import { type TaskError } from './video-task';
import { isKnown, type WatchState } from './watch-state';

/** How a wait ended: a final record, a task that the service does not know, or the deadline. */
export type WatchVerdict =
  | { readonly kind: 'completed'; readonly record: PolledRecord }
  | { readonly kind: 'failed'; readonly record: PolledRecord; readonly error: TaskError }
  | { readonly kind: 'task_unknown' }
  | { readonly kind: 'still_running' };

/**
 * `task_unknown` needs at least this many consecutive answers over at least this time, for an id that a caller brought
 * and of which no record was ever received (architecture: Poll). A task that the service once knew, or that our own
 * create has made, is polled until the deadline: the id was paid for.
 */
const UNKNOWN_MIN_ANSWERS = 3;
const UNKNOWN_GRACE_MS = 60_000;
/** At this many lost ticks in a row after the deadline the wait ends without a poll; each before it is made up for. */
export const MAX_MISSED_AT_DEADLINE = 3;

const UNKNOWN_ERROR: TaskError = { kind: 'unknown', code: null, message: null };

/** Verdict of a record; undefined while the watch continues. */
export function verdictOfRecord(record: PolledRecord): WatchVerdict | undefined {
  if (record.phase === 'completed') return { kind: 'completed', record };
  if (record.phase === 'failed') return { kind: 'failed', record, error: record.error ?? UNKNOWN_ERROR };
  return undefined;
}

/**
 * Verdict of a watch without a final record, at `now`; undefined while it continues. A poll that was sent at or after the
 * deadline is the last one, whether it returned a record or an error of any class, a failed connection too. A poll that
 * was not sent, or whose answer came too late for its tick, is a lost tick, which the next tick makes up for.
 */
export function verdictWithoutRecord(state: WatchState, now: number): WatchVerdict | undefined {
  if (
    !isKnown(state) &&
    state.video.source === 'unknown' &&
    state.unknownCount >= UNKNOWN_MIN_ANSWERS &&
    state.unknownSince !== null &&
    state.lastPollAt !== null &&
    state.lastPollAt - state.unknownSince >= UNKNOWN_GRACE_MS
  ) {
    return { kind: 'task_unknown' };
  }
  if (now < state.deadlineAt) return undefined;
  const polledAtDeadline = state.lastPollAt !== null && state.lastPollAt >= state.deadlineAt;
  const forbidden = state.notBefore > now;
  const givenUp = state.missedAtDeadline >= MAX_MISSED_AT_DEADLINE || isOutOfTime(state, now);
  return polledAtDeadline || forbidden || givenUp ? { kind: 'still_running' } : undefined;
}

/**
 * Before the execution expires there is time for one last poll, but not for making up for a lost one
 * (architecture: Wait).
 */
function isOutOfTime({ hardEndAt, missedAtDeadline, video }: WatchState, now: number): boolean {
  if (hardEndAt === null || now < hardEndAt) return false;
  return missedAtDeadline > 0 || now >= hardEndAt + video.polling.maxSeconds * 1000;
}
