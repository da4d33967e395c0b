import {
  type ArtifactRef,
  type Billing,
  type Cancelled,
  type CompletedImage,
  type CompletedVideo,
  type ContentUnavailable,
  type FailedVideo,
  type ImageResultsLost,
  type Rejected,
  type StillRunning,
  type TaskUnknown,
  type Unconfirmed,
  type VideoTask,
} from 'temporal-media';
import {
  completed,
  failed,
  mayRetry,
  requestedFacts,
  stillRunning,
  unavailableContent as unavailable,
  unknownTask,
  type VideoEnd,
} from 'temporal-media/internal/domain/end-of-wait';
import { billing } from 'temporal-media/internal/domain/money';
import { imageOutcome, outcomes } from 'temporal-media/internal/domain/outcome';
import { evidence } from 'temporal-media/internal/domain/paid-call';
import { artifactUri } from 'temporal-media/internal/domain/request';
import { DEFAULT_POLLING } from 'temporal-media/internal/domain/video-task';
import {
  beginWatch,
  onPollError,
  onRecord,
  type WatchState,
} from 'temporal-media/internal/domain/watch-state';

/** The building blocks of test outcomes. All times are fixed, so an outcome is the same in every run. */

/** Time of every event, ISO 8601. */
export const MADE_AT = '2026-01-01T00:00:00.000Z';
/** The estimate for every call: 0.50 USD. */
export const ESTIMATE = { microUnits: 500_000, currency: 'USD' } as const;

/** Fields that a test overrides. Those in `Inner` are objects, and their missing fields get defaults. */
export type Changes<Outcome, Inner extends keyof Outcome = never> = Partial<
  Omit<Outcome, Inner | 'outcome' | 'billing'>
> & { readonly [Name in Inner]?: Partial<Outcome[Name]> } & { readonly billing?: Partial<Billing> };

/**
 * Returns the task facts that every outcome of a created video contains. @default task `task-1` with the `cine-1` model
 */
export function videoTask(changes: Partial<VideoTask> = {}): VideoTask {
  return {
    taskId: 'task-1',
    model: 'cine-1',
    durationSeconds: 5,
    resolution: '720p',
    referenceMode: 'none',
    account: 'default@00000000',
    polling: DEFAULT_POLLING,
    createdAt: MADE_AT,
    source: 'create_reply',
    ...changes,
  };
}

/**
 * Returns an artifact reference with a uri derived from its hash. No store contains the bytes. If your activity reads
 * them, use the sandbox, or a reference that your test has stored. @default a video of one megabyte
 */
export function artifactRef(changes: Partial<Omit<ArtifactRef, 'uri'>> = {}): ArtifactRef {
  const sha256 = changes.sha256 ?? '0'.repeat(64);
  return { mediaType: 'video/mp4', bytes: 1_000_000, ...changes, sha256, uri: artifactUri(sha256) };
}

/**
 * Outcomes of videos for tests, as the workflows return them. The domain builds them from a task, a wait and an
 * estimate; `changes` replaces fields.
 */

/** Downloaded and verified; settled, with usage. */
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

/** The service failed the task. `retryable` depends on the kind. @default an error of kind `unknown` */
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

/** Sent once, with an unknown outcome. @default the connection was lost after the send */
export function unconfirmedVideo(changes: Changes<Unconfirmed, 'evidence'> = {}): Unconfirmed {
  return madeUnconfirmed('none', changes);
}

/** Creates the outcome for videos and image calls, which differ in their evidence. */
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

/** Canceled by the caller after the task was created; `video: null` for a call that was canceled earlier. */
export function cancelledVideo(changes: Changes<Cancelled> = {}): Cancelled {
  const { billing: money, video = videoTask(), creationKey = 'order-1' } = changes;
  const made = billing(ESTIMATE, video === null ? 'none' : 'needs_review');
  return outcomes.cancelled(video, creationKey, { ...made, ...money });
}

/** Returns a task and its wait after two polls. `null` means that the service does not know the task. */
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

/** Outcomes of image calls for tests, as the workflows and activities return them; `changes` replaces fields. */

const PNG = artifactRef({ mediaType: 'image/png', bytes: 100_000 });
const PAID = { sendAttempt: 0, sent: true, account: 'default@00000000', estimate: ESTIMATE } as const;
const CREATED = Date.parse(MADE_AT) / 1000;

/** Every result is stored; settled, with usage. @default one PNG */
export function completedImage(changes: Changes<CompletedImage> = {}): CompletedImage {
  const { billing: money, images = [PNG], ...rest } = changes;
  const usage = { images: images.length };
  const answer = { ...PAID, outcome: 'completed', images, created: CREATED, usage, warnings: [] } as const;
  const made = imageOutcome(answer, 'order-1') as CompletedImage;
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** Paid for, but a result could not be stored. @default the only result */
export function imageResultsLost(changes: Changes<ImageResultsLost> = {}): ImageResultsLost {
  const { billing: money, creationKey = 'order-1', ...rest } = changes;
  const answer = {
    ...PAID,
    outcome: 'results_lost',
    images: [null],
    created: CREATED,
    reason: 'storage',
    message: 'A result could not be stored.',
  } as const;
  const made = imageOutcome(answer, creationKey) as ImageResultsLost;
  return { ...made, billing: { ...made.billing, ...money }, ...rest };
}

/** Sent once, with an unknown outcome. @default the connection was lost after the send */
export function unconfirmedImage(changes: Changes<Unconfirmed, 'evidence'> = {}): Unconfirmed {
  return madeUnconfirmed(null, changes);
}

/** Refused before the send or by the service. @default by the service, as `invalid_request` */
export function rejectedImage(changes: Changes<Rejected> = {}): Rejected {
  return rejectedVideo(changes);
}

/** Canceled by the caller before the send. */
export function cancelledImage(changes: Changes<Cancelled> = {}): Cancelled {
  return cancelledVideo({ video: null, ...changes });
}
