import {
  completed,
  unavailableContent as unavailable,
  failed,
  mayRetry,
  requestedFacts,
  stillRunning,
  unknownTask,
  type VideoEnd,
} from 'temporal-media/internal/domain/end-of-wait';
import { outcomes } from 'temporal-media/internal/domain/make-outcome';
import {
  type Cancelled,
  type CompletedVideo,
  type ContentUnavailable,
  type FailedVideo,
  type Rejected,
  type StillRunning,
  type TaskUnknown,
  type Unconfirmed,
} from 'temporal-media';
import { type WatchState } from 'temporal-media/internal/domain/watch-state';
import { evidence } from 'temporal-media/internal/domain/paid-call';
import { billing } from 'temporal-media/internal/domain/price';
import { beginWatch, onPollError, onRecord } from 'temporal-media/internal/domain/watch-state';
import { artifactRef, type Changes, ESTIMATE, MADE_AT, videoTask } from './made-of';

/**
 * Outcomes of videos for tests, as the workflows return them: the domain makes them of a task, a wait and an estimate;
 * `changes` replaces fields.
 */

/** Downloaded and verified; settled, with a usage. */
export function completedVideo(
  changes: Changes<CompletedVideo, 'video' | 'artifact' | 'requested' | 'watch'> = {},
): CompletedVideo {
  const { video, artifact, requested, watch, billing: money, ...rest } = changes;
  const end = endOf(video, 'completed');
  const made = completed(
    end,
    { outcome: 'downloaded', artifact: artifactRef(artifact), sidecar: null, reported: {}, warnings: [] },
    { usage: { seconds: end.state.video.durationSeconds } },
    [],
  );
  return {
    ...made,
    requested: { ...requestedFacts(end.state.video), ...requested },
    watch: { ...made.watch, ...watch },
    billing: { ...made.billing, ...money },
    ...rest,
  };
}

/** The wait ended first. */
export function stillRunningVideo(changes: Changes<StillRunning, 'video'> = {}): StillRunning {
  const { video, billing: money, ...rest } = changes;
  const made = stillRunning(endOf(video, 'in_progress'));
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** The service failed the task. `retryable` follows from the kind. @default an error of the kind `unknown` */
export function failedVideo(changes: Changes<FailedVideo, 'video' | 'error' | 'watch'> = {}): FailedVideo {
  const { video, error: changed, watch, billing: money, ...rest } = changes;
  const error = { kind: 'unknown', code: null, message: 'The task failed.', ...changed } as const;
  const made = failed(endOf(video, 'failed'), error);
  return {
    ...made,
    retryable: mayRetry(error.kind),
    watch: { ...made.watch, ...watch },
    billing: { ...made.billing, ...money },
    ...rest,
  };
}

/** Completed by the service, but the file could not be fetched. @default `expired` */
export function contentUnavailable(changes: Changes<ContentUnavailable, 'video'> = {}): ContentUnavailable {
  const { video, billing: money, ...rest } = changes;
  const made = unavailable(endOf(video, 'completed'), {
    outcome: 'content_unavailable',
    reason: 'expired',
    message: 'The link to the result has expired.',
    tries: 3,
    rejected: null,
  });
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** The service does not know the task id. */
export function taskUnknown(changes: Changes<TaskUnknown, 'video' | 'watch'> = {}): TaskUnknown {
  const { video, watch, billing: money, ...rest } = changes;
  const made = unknownTask(endOf(video, null));
  return { ...made, watch: { ...made.watch, ...watch }, billing: { ...made.billing, ...money }, ...rest };
}

/** Sent once, fate unknown. @default the connection was lost after the send */
export function unconfirmedVideo(changes: Changes<Unconfirmed, 'evidence'> = {}): Unconfirmed {
  return madeUnconfirmed('none', changes);
}

/** For videos and image calls, which differ in their evidence. */
export function madeUnconfirmed(
  referenceMode: string | null,
  changes: Changes<Unconfirmed, 'evidence'>,
): Unconfirmed {
  const { evidence: changed, billing: money, creationKey = 'order-1', sendAttempt = 0, ...rest } = changes;
  const { model, durationSeconds, resolution, account } = videoTask();
  const facts = referenceMode === null ? { model } : { model, durationSeconds, resolution, referenceMode };
  const made = outcomes.unconfirmed(
    {
      outcome: 'unconfirmed',
      sendAttempt,
      sent: true,
      account,
      estimate: ESTIMATE,
      evidence: {
        ...evidence('connection_lost_after_send', { intentAt: MADE_AT, account, ...facts }),
        ...changed,
      },
    },
    creationKey,
  );
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** Refused before the send or by the service: no task exists. @default by the service, as `invalid_request` */
export function rejectedVideo(changes: Changes<Rejected> = {}): Rejected {
  const { billing: money, creationKey = 'order-1', sends = 1, ...rest } = changes;
  const made = outcomes.rejected(
    {
      outcome: 'rejected',
      sendAttempt: 0,
      sent: sends > 0,
      account: 'default@00000000',
      estimate: ESTIMATE,
      reason: 'invalid_request',
      message: 'The service refused the request.',
      ...(sends > 0 && { httpStatus: 400 }),
      ...rest,
    },
    creationKey,
    sends,
  );
  return { ...made, billing: { ...made.billing, ...money } };
}

/** Cancelled by the caller after the creation; `video: null` for a call that was cancelled before it. */
export function cancelledVideo(changes: Changes<Cancelled> = {}): Cancelled {
  const { billing: money, video = videoTask(), creationKey = 'order-1' } = changes;
  const made = billing(ESTIMATE, video === null ? 'none' : 'needs_review');
  return outcomes.cancelled(video, creationKey, { ...made, ...money });
}

/** A task and its wait, which polled twice. `null`: the service did not know the task. */
function endOf(changed: Parameters<typeof videoTask>[0], status: WatchStatus | null): VideoEnd {
  const video = videoTask(changed);
  const now = Date.parse(MADE_AT);
  const firstPollAt = now + video.polling.firstPollSeconds * 1000;
  const begun = beginWatch({ video, now, deadlineAt: now + 900_000, firstPollAt });
  const state = status === null ? unknownTo(begun, firstPollAt) : known(begun, firstPollAt, status);
  return { estimate: ESTIMATE, state };
}

type WatchStatus = 'completed' | 'failed' | 'in_progress';

function known(begun: WatchState, at: number, status: WatchStatus): WatchState {
  const first = onRecord(begun, { status: 'in_progress', phase: 'in_progress', progress: 50 }, 'first', at);
  if (status === 'in_progress') return first;
  return onRecord(first, { status, phase: status }, 'last', at + 4_000);
}

function unknownTo(begun: WatchState, at: number): WatchState {
  const failure = { error: 'not_found', httpStatus: 404 } as const;
  return [at, at + 30_000, at + 60_000].reduce(
    (state, time) => onPollError(state, failure, time, 4_000, 0),
    begun,
  );
}
