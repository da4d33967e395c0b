import { type Downloaded, type DownloadVideoResult, type FailedTry } from './download';
import { given } from './json';
import { billing, endedBilling, finishedState, type Money } from './money';
import {
  cancelled,
  type CompletedVideo,
  type ContentUnavailable,
  type FailedVideo,
  type RequestedFacts,
  type StillRunning,
  type TaskUnknown,
  type VideoOutcome,
} from './outcome';
import { type CreatedVideo } from './paid-call';
import { type PolledRecord, type ReportedFacts } from './poll-answers';
import { type ErrorKind, type TaskError, type VideoTask } from './video-task';
import { isKnown, watchFacts, type WatchState } from './watch-state';

/**
 * Decides how the wait for a video ends, regardless of who polls (architecture: Wait): which answers end its watch, and
 * which outcome follows.
 *
 * @module
 */

/** How a watch ended: a final record, a task unknown to the service, the deadline, or the caller's cancellation. */
export type WatchVerdict =
  | { readonly kind: 'completed'; readonly record: PolledRecord }
  | { readonly kind: 'failed'; readonly record: PolledRecord; readonly error: TaskError }
  | { readonly kind: 'task_unknown' }
  | { readonly kind: 'still_running' }
  | { readonly kind: 'cancelled' };

/** The end of a watch. */
export interface WatchEnd {
  readonly kind: 'verdict';
  /** Why the watch ended. */
  readonly verdict: WatchVerdict;
  /** The state when the watch ended. */
  readonly state: WatchState;
  /** The file of a completed video, if a delivery has fetched it. */
  readonly downloaded?: Downloaded;
  /** A delivery's failed attempt. It counts as the first attempt of the video's own download. */
  readonly tried?: FailedTry;
}

/**
 * `task_unknown` requires at least this many consecutive answers over at least this time. It applies only to an id that
 * a caller supplied and for which no record was ever received (architecture: Wait). A task that the service once
 * returned, or that our own create made, is polled until the deadline, because it was paid for.
 */
const UNKNOWN_MIN_ANSWERS = 3;
const UNKNOWN_GRACE_MS = 60_000;
/**
 * After this many consecutive lost ticks past the deadline, the wait ends without a poll. If fewer ticks are lost, a
 * later tick makes up for them.
 */
export const MAX_MISSED_AT_DEADLINE = 3;

const UNKNOWN_ERROR: TaskError = { kind: 'unknown', code: null, message: null };

/** Returns the verdict for a record, or undefined while the watch continues. */
export function verdictOfRecord(record: PolledRecord): WatchVerdict | undefined {
  if (record.phase === 'completed') return { kind: 'completed', record };
  if (record.phase === 'failed') return { kind: 'failed', record, error: record.error ?? UNKNOWN_ERROR };
  return undefined;
}

/**
 * Returns the verdict at `now` for a watch without a final record, or undefined while it continues. A poll sent at or
 * after the deadline is the last one, whether it returned a record or any error, including a failed connection. A poll
 * that was not sent, or that was answered too late for its tick, counts as a lost tick, and the next tick replaces it.
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
 * Whether the execution is about to expire: there is time for one last poll, but not to replace a lost one
 * (architecture: Wait).
 */
function isOutOfTime({ hardEndAt, missedAtDeadline, video }: WatchState, now: number): boolean {
  if (hardEndAt === null || now < hardEndAt) return false;
  return missedAtDeadline > 0 || now >= hardEndAt + video.polling.maxSeconds * 1000;
}

export interface WaitOrigin {
  readonly creationKey: string | null;
  /** Null for a task that this workflow did not create. */
  readonly created: Pick<CreatedVideo, 'estimate' | 'warnings' | 'mayBeOwed' | 'actual'> | null;
}

/** Returns the outcome of a watch that ended without a result. */
export function outcomeOfWatch(
  { state, verdict }: { readonly state: WatchState; readonly verdict: Exclude<WatchVerdict, Completed> },
  origin: WaitOrigin,
): VideoOutcome {
  const end: VideoEnd = { state, estimate: null, ...origin.created };
  switch (verdict.kind) {
    case 'still_running':
      return stillRunning(end);
    case 'task_unknown':
      return unknownTask(end);
    case 'failed':
      return failed(end, verdict.error, verdict.record);
    case 'cancelled':
      return cancelled(state.video, origin.creationKey, billing(end.estimate, 'needs_review', end));
  }
}

type Completed = Extract<WatchVerdict, { kind: 'completed' }>;

/**
 * Returns a completed video's outcome from its download result. The result is null if the execution is about to expire
 * or no worker could finish the download. The file might still be intact, and a later `awaitVideo` can download it.
 */
export function outcomeOfDownload(
  { state, record }: { readonly state: WatchState; readonly record: PolledRecord },
  result: DownloadVideoResult | 'cancelled' | null,
  origin: WaitOrigin,
): VideoOutcome {
  const end: VideoEnd = { state, estimate: null, ...origin.created };
  if (result === null) return stillRunning(end, record.status);
  if (result === 'cancelled')
    return cancelled(
      state.video,
      origin.creationKey,
      billing(end.estimate, 'needs_review', { ...end, ...record }),
    );
  return result.outcome === 'downloaded'
    ? completed(end, result, record, origin.created?.warnings ?? [])
    : unavailableContent(end, result, record);
}

export interface VideoEnd {
  readonly state: WatchState;
  readonly estimate: Money | null;
  /**
   * Something else under the task's key may also have cost money, so this task's reported usage does not settle the
   * bill.
   */
  readonly mayBeOwed?: true;
  /** Amount in the create's reply, or a bill that was in the log when the wait began. */
  readonly actual?: Money;
}

/** What the task's final record says about its cost. */
type FinalCost = Pick<PolledRecord, 'usage' | 'actual'>;

export function requestedFacts(video: VideoTask): RequestedFacts {
  const { model, durationSeconds, resolution, referenceMode } = video;
  return { model, durationSeconds, resolution, referenceMode };
}

/** Returns warnings about reported values that differ from the request. */
export function differences(requested: RequestedFacts, reported: ReportedFacts): string[] {
  return (['model', 'durationSeconds', 'resolution'] as const).flatMap((fact) => {
    const asked = requested[fact];
    const answered = reported[fact];
    return asked === null || answered === undefined || asked === answered
      ? []
      : [`The service reports ${fact} ${answered}, but ${asked} was requested.`];
  });
}

export function completed(
  end: VideoEnd,
  download: Downloaded,
  record: FinalCost & { readonly reported?: ReportedFacts },
  warnings: readonly string[],
): CompletedVideo {
  const usage = download.usage ?? record.usage;
  const requested = requestedFacts(end.state.video);
  const reported = { ...record.reported, ...download.reported };
  return {
    outcome: 'completed',
    video: end.state.video,
    artifact: download.artifact,
    sidecar: download.sidecar,
    requested,
    reported,
    warnings: [...new Set([...warnings, ...download.warnings, ...differences(requested, reported)])],
    watch: watchFacts(end.state),
    billing: endedBilling(end.estimate, finishedState(usage), { ...end, ...record, usage }),
  };
}

export function stillRunning(end: VideoEnd, lastStatus?: string): StillRunning {
  return {
    outcome: 'still_running',
    video: end.state.video,
    ...watchFacts(end.state),
    ...given({ lastStatus }),
    billing: billing(end.estimate, 'reserved', end),
  };
}

export function failed(end: VideoEnd, error: TaskError, record: FinalCost = {}): FailedVideo {
  return {
    outcome: 'failed',
    video: end.state.video,
    error,
    retryable: mayRetry(error.kind),
    watch: watchFacts(end.state),
    // A failed task can still need billing review (C1.8), so the reservation is kept.
    billing: endedBilling(end.estimate, 'needs_review', { ...end, ...record }),
  };
}

export function unknownTask(end: VideoEnd): TaskUnknown {
  return {
    outcome: 'task_unknown',
    video: end.state.video,
    message:
      'The service reports that this task id does not exist. Check the id, the account and the path /v1/videos/{task_id}. The video has not necessarily failed, so do not create another one because of this.',
    watch: watchFacts(end.state),
    billing: billing(end.estimate, 'needs_review', end),
  };
}

export function unavailableContent(
  end: VideoEnd,
  result: Extract<DownloadVideoResult, { outcome: 'content_unavailable' }>,
  record: FinalCost = {},
): ContentUnavailable {
  const { reason, message, tries, rejected, httpStatus } = result;
  return {
    outcome: 'content_unavailable',
    video: end.state.video,
    reason,
    message,
    tries,
    rejected,
    ...given({ httpStatus }),
    billing: endedBilling(end.estimate, 'needs_review', { ...end, ...record }),
  };
}

/** Whether another attempt under a new creation key can help. */
export function mayRetry(kind: ErrorKind): boolean {
  return kind === 'capacity';
}
