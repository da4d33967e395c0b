import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import { type MediaActivities } from '../domain/activities';
import { type CampaignActivities } from '../domain/campaign/activities';
import {
  CREATE_TIMEOUTS,
  DOWNLOAD_TIMEOUTS,
  IMAGE_TIMEOUTS,
  POLL_TIMEOUTS,
  RECONCILE_TIMEOUTS,
  WATCH_TIMEOUTS,
} from '../domain/timeouts';
import { type ImageOutcome } from '../domain/outcome';
import { type EditImageInput, type GenerateImageInput, type WaitingImage } from '../domain/paid-call';
import { ACTIVITY } from '../domain/names';

/**
 * The only `proxyActivities` calls: every retry policy and timeout that reaches a history is defined here.
 * Each function returns plain activity functions.
 */

interface Placement {
  readonly taskQueue?: string | undefined;
  readonly summary?: string;
}

const placed = ({ taskQueue, summary }: Placement): { taskQueue?: string; summary?: string } => ({
  ...(taskQueue === undefined ? {} : { taskQueue }),
  ...(summary === undefined ? {} : { summary }),
});

/** Never retried, not even after a timeout: `update-options` cannot make it run again (failure model: The journal). */
const ONCE: NonNullable<ActivityOptions['retry']> = {
  maximumAttempts: 1,
  nonRetryableErrorTypes: ['TemporalTimeout:StartToClose', 'TemporalTimeout:Heartbeat'],
};

export function createVideoActivity(
  placement: Placement & { readonly startLimitMs: number },
): MediaActivities[typeof ACTIVITY.createVideo] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.createVideo>>({
    ...placed(placement),
    ...createLimits(placement.startLimitMs),
  })[ACTIVITY.createVideo];
}

/** Of one create, and of a group of them. */
function createLimits(startLimitMs: number) {
  return {
    scheduleToStartTimeout: startLimitMs,
    startToCloseTimeout: CREATE_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: createScheduleToCloseMs(startLimitMs),
    heartbeatTimeout: CREATE_TIMEOUTS.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    allowEagerDispatch: false,
    retry: ONCE,
  } as const;
}

export function createScheduleToCloseMs(startLimitMs: number): number {
  return startLimitMs + CREATE_TIMEOUTS.startToCloseMs;
}

export function reconcileCreateActivity(
  placement: Placement & { readonly startLimitMs: number },
): MediaActivities[typeof ACTIVITY.reconcileCreate] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.reconcileCreate>>({
    ...placed(placement),
    scheduleToStartTimeout: placement.startLimitMs,
    startToCloseTimeout: RECONCILE_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: placement.startLimitMs + RECONCILE_TIMEOUTS.settleMs,
    allowEagerDispatch: false,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
  })[ACTIVITY.reconcileCreate];
}

export function findVideoTaskActivity(placement: Placement): MediaActivities[typeof ACTIVITY.findVideoTask] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.findVideoTask>>({
    ...placed(placement),
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '1 hour',
    retry: { initialInterval: '1s', maximumInterval: '1 minute' },
  })[ACTIVITY.findVideoTask];
}

export function artifactStoreActivity(placement: Placement): MediaActivities[typeof ACTIVITY.artifactStore] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.artifactStore>>({
    ...placed(placement),
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '1 minute',
    retry: { initialInterval: '1s', maximumInterval: '10s' },
  })[ACTIVITY.artifactStore];
}

export function pollVideosActivity(
  placement: Placement & { readonly budgetMs: number; readonly minIntervalMs: number },
): MediaActivities[typeof ACTIVITY.pollVideos] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.pollVideos>>({
    ...placed(placement),
    startToCloseTimeout: placement.budgetMs + POLL_TIMEOUTS.overBudgetMs,
    scheduleToCloseTimeout: POLL_TIMEOUTS.scheduleToCloseMs,
    // Retries of the whole tick also keep the cadence's minimum (C8.2), even where it exceeds the usual maximum:
    // a maximum below the initial interval would make the command invalid and the workflow hang.
    retry: {
      initialInterval: placement.minIntervalMs,
      backoffCoefficient: 1.5,
      maximumInterval: Math.max(15_000, placement.minIntervalMs),
    },
  })[ACTIVITY.pollVideos];
}

/** Open until the watcher completes it; retries write no events, and the activity itself sets the time between them. */
export function watchVideoActivity(
  placement: Placement & { readonly limitMs: number },
): MediaActivities[typeof ACTIVITY.watchVideo] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.watchVideo>>({
    ...placed(placement),
    startToCloseTimeout: Math.min(WATCH_TIMEOUTS.startToCloseMs, placement.limitMs),
    scheduleToCloseTimeout: placement.limitMs,
    // A video that is cancelled ends at once, and then tells its watcher.
    cancellationType: ActivityCancellationType.ABANDON,
    // A worker of an older version does not have it: then the video polls by itself.
    retry: { initialInterval: '1s', maximumInterval: '10s', nonRetryableErrorTypes: ['NotFoundError'] },
  })[ACTIVITY.watchVideo];
}

export function tellVideosActivity(placement: Placement): MediaActivities[typeof ACTIVITY.tellVideos] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.tellVideos>>({
    ...placed(placement),
    startToCloseTimeout: WATCH_TIMEOUTS.tellMs,
    retry: { initialInterval: '1s', maximumInterval: '10s' },
  })[ACTIVITY.tellVideos];
}

/** One attempt for many videos; each that it does not serve fetches its file in an activity of its own. */
export function deliverVideosActivity(placement: Placement): MediaActivities[typeof ACTIVITY.deliverVideos] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.deliverVideos>>({
    ...placed(placement),
    scheduleToStartTimeout: WATCH_TIMEOUTS.deliverStartMs,
    startToCloseTimeout: DOWNLOAD_TIMEOUTS.startToCloseMs,
    heartbeatTimeout: WATCH_TIMEOUTS.deliverHeartbeatMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: 1 },
  })[ACTIVITY.deliverVideos];
}

/** Retry policies of downloads, by name; `scheduleToCloseTimeout` ends each. */
const DOWNLOAD_RETRIES = {
  usual: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1 minute' },
} as const satisfies { readonly [name: string]: ActivityOptions['retry'] };

export function downloadVideoActivity(
  placement: Placement,
  retry: keyof typeof DOWNLOAD_RETRIES = 'usual',
): MediaActivities[typeof ACTIVITY.downloadVideo] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.downloadVideo>>({
    ...placed(placement),
    startToCloseTimeout: DOWNLOAD_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: DOWNLOAD_TIMEOUTS.scheduleToCloseMs,
    heartbeatTimeout: DOWNLOAD_TIMEOUTS.heartbeatMs,
    // Nothing is bought here, and an execution that is about to expire cannot wait for a heartbeat
    // (architecture: Wait).
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: DOWNLOAD_RETRIES[retry],
  })[ACTIVITY.downloadVideo];
}

/** All attempts with their pauses, each of which respects a Retry-After of up to 15 minutes. */
export function imageScheduleToCloseMs(startLimitMs: number): number {
  const attempt = IMAGE_TIMEOUTS.startToCloseMs + IMAGE_TIMEOUTS.longestPauseMs;
  return startLimitMs + IMAGE_TIMEOUTS.maximumAttempts * attempt;
}

/** For callers that wait by themselves; other callers only get outcomes. */
interface WaitedImages {
  [ACTIVITY.generateImage](
    input: GenerateImageInput & { readonly waits: true },
  ): Promise<ImageOutcome | WaitingImage>;
  [ACTIVITY.editImage](
    input: EditImageInput & { readonly waits: true },
  ): Promise<ImageOutcome | WaitingImage>;
}

/** Plain activities: the journal lets a retry send again only after a proven refusal (architecture: Images). */
export function imageActivities(placement: Placement & { readonly startLimitMs: number }): WaitedImages {
  return proxyActivities<WaitedImages>({
    ...placed(placement),
    ...imageLimits(placement.startLimitMs),
  });
}

function imageLimits(startLimitMs: number) {
  return {
    scheduleToStartTimeout: startLimitMs,
    startToCloseTimeout: IMAGE_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: imageScheduleToCloseMs(startLimitMs),
    heartbeatTimeout: IMAGE_TIMEOUTS.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    allowEagerDispatch: false,
    retry: {
      initialInterval: '2s',
      backoffCoefficient: 2,
      maximumInterval: '1 minute',
      maximumAttempts: IMAGE_TIMEOUTS.maximumAttempts,
    },
  } as const;
}

export function resolveUnconfirmedActivity(
  placement: Placement,
): MediaActivities[typeof ACTIVITY.resolveUnconfirmed] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.resolveUnconfirmed>>({
    ...placed(placement),
    startToCloseTimeout: '1 minute',
    // The activity waits for a sender that may still be alive; that of an image call takes the longest.
    scheduleToCloseTimeout: RECONCILE_TIMEOUTS.settleMs,
    allowEagerDispatch: false,
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  })[ACTIVITY.resolveUnconfirmed];
}

export function reviewJournalActivity(placement: Placement): MediaActivities[typeof ACTIVITY.reviewJournal] {
  return proxyActivities<Pick<MediaActivities, typeof ACTIVITY.reviewJournal>>({
    ...placed(placement),
    startToCloseTimeout: '1 minute',
    scheduleToCloseTimeout: '5 minutes',
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  })[ACTIVITY.reviewJournal];
}

/** A group of creates: each row has its own key and claim, so that the group is as safe as each single create. */
export function createVideosActivity(
  placement: Placement & { readonly startLimitMs: number },
): CampaignActivities[typeof ACTIVITY.createVideos] {
  return proxyActivities<Pick<CampaignActivities, typeof ACTIVITY.createVideos>>({
    ...placed(placement),
    ...createLimits(placement.startLimitMs),
  })[ACTIVITY.createVideos];
}

/** One attempt for many videos; each unfinished video then gets an activity of its own. */
export function downloadVideosActivity(
  placement: Placement,
): CampaignActivities[typeof ACTIVITY.downloadVideos] {
  return proxyActivities<Pick<CampaignActivities, typeof ACTIVITY.downloadVideos>>({
    ...placed(placement),
    startToCloseTimeout: DOWNLOAD_TIMEOUTS.startToCloseMs,
    heartbeatTimeout: DOWNLOAD_TIMEOUTS.heartbeatMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: 1 },
  })[ACTIVITY.downloadVideos];
}

export function campaignImageActivity(
  placement: Placement & { readonly startLimitMs: number },
): CampaignActivities[typeof ACTIVITY.campaignImage] {
  return proxyActivities<Pick<CampaignActivities, typeof ACTIVITY.campaignImage>>({
    ...placed(placement),
    ...imageLimits(placement.startLimitMs),
  })[ACTIVITY.campaignImage];
}

/** Reading a whole manifest and all its results takes minutes for a million rows. */
const WHOLE_READ: ActivityOptions = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1s', maximumInterval: '1 minute' },
};

export function planCampaignActivity(placement: Placement): CampaignActivities[typeof ACTIVITY.planCampaign] {
  return proxyActivities<Pick<CampaignActivities, typeof ACTIVITY.planCampaign>>({
    ...placed(placement),
    ...WHOLE_READ,
  })[ACTIVITY.planCampaign];
}

/** Moves in a campaign's book take priority over creates on the same queue, and are retried until they succeed. */
export function campaignBooksActivities(
  placement: Placement,
): Pick<CampaignActivities, typeof ACTIVITY.keepBooks | typeof ACTIVITY.settleBatch> {
  const options = {
    ...placed(placement),
    allowEagerDispatch: false,
    priority: { priorityKey: 1 },
    retry: { initialInterval: '1s', maximumInterval: '15s' },
  } as const;
  return {
    [ACTIVITY.keepBooks]: proxyActivities<Pick<CampaignActivities, typeof ACTIVITY.keepBooks>>({
      ...options,
      startToCloseTimeout: '1 minute',
    })[ACTIVITY.keepBooks],
    [ACTIVITY.settleBatch]: proxyActivities<Pick<CampaignActivities, typeof ACTIVITY.settleBatch>>({
      ...options,
      // The activity waits for sends in flight; that of an image call takes the longest.
      startToCloseTimeout: '10 minutes',
      heartbeatTimeout: '30s',
    })[ACTIVITY.settleBatch],
  };
}

/** Pages and results: they buy nothing and write files named by hash, and are retried until they succeed. */
export function campaignPagesActivities(
  placement: Placement,
): Pick<
  CampaignActivities,
  typeof ACTIVITY.openPage | typeof ACTIVITY.recordRows | typeof ACTIVITY.foldResults
> {
  return proxyActivities<
    Pick<
      CampaignActivities,
      typeof ACTIVITY.openPage | typeof ACTIVITY.recordRows | typeof ACTIVITY.foldResults
    >
  >({
    ...placed(placement),
    startToCloseTimeout: '1 minute',
    retry: { initialInterval: '1s', maximumInterval: '1 minute' },
  });
}
