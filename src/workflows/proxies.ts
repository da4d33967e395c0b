import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import { type MediaActivities } from '../domain/activities';
import { given } from '../domain/json';
import { ACTIVITY } from '../domain/names';
import { type ImageOutcome } from '../domain/outcome';
import { type EditImageInput, type GenerateImageInput, type WaitingImage } from '../domain/paid-call';
import {
  CREATE_TIMEOUTS,
  DOWNLOAD_TIMEOUTS,
  imageActivityOptions,
  POLL_TIMEOUTS,
  RECONCILE_TIMEOUTS,
  WATCH_TIMEOUTS,
} from '../domain/timeouts';

interface StartLimit {
  readonly startLimitMs: number;
}

/**
 * Never retried, not even after a timeout. `update-options` cannot make the activity run again (failure model: The
 * log).
 */
const ONCE: NonNullable<ActivityOptions['retry']> = {
  maximumAttempts: 1,
  nonRetryableErrorTypes: ['TemporalTimeout:StartToClose', 'TemporalTimeout:Heartbeat'],
};

/** Options for one create, or for a group in which each row has its own key and log. */
const createOptions = ({ startLimitMs }: StartLimit): ActivityOptions => ({
  scheduleToStartTimeout: startLimitMs,
  startToCloseTimeout: CREATE_TIMEOUTS.startToCloseMs,
  scheduleToCloseTimeout: createScheduleToCloseMs(startLimitMs),
  heartbeatTimeout: CREATE_TIMEOUTS.heartbeatMs,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  allowEagerDispatch: false,
  retry: ONCE,
});

export function createScheduleToCloseMs(startLimitMs: number): number {
  return startLimitMs + CREATE_TIMEOUTS.startToCloseMs;
}

const imageOptions = ({ startLimitMs }: StartLimit): ActivityOptions => ({
  ...imageActivityOptions(startLimitMs),
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  allowEagerDispatch: false,
});

/** These activities buy nothing, write files named after their hashes, and are retried until they succeed. */
const PAGES: ActivityOptions = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1s', maximumInterval: '1 minute' },
};

/** Book updates take priority over creates on the same queue, and are retried until they succeed. */
const BOOKS: ActivityOptions = {
  allowEagerDispatch: false,
  priority: { priorityKey: 1 },
  retry: { initialInterval: '1s', maximumInterval: '15s' },
};

/** Every retry policy and timeout that appears in a history, by activity. */
const OPTIONS = {
  [ACTIVITY.createVideo]: createOptions,
  [ACTIVITY.createVideos]: createOptions,
  [ACTIVITY.generateImage]: imageOptions,
  [ACTIVITY.editImage]: imageOptions,
  [ACTIVITY.campaignImage]: imageOptions,
  [ACTIVITY.reconcileCreate]: ({ startLimitMs }: StartLimit): ActivityOptions => ({
    scheduleToStartTimeout: startLimitMs,
    startToCloseTimeout: RECONCILE_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: startLimitMs + RECONCILE_TIMEOUTS.settleMs,
    allowEagerDispatch: false,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
  }),
  [ACTIVITY.findVideoTask]: {
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '1 hour',
    retry: { initialInterval: '1s', maximumInterval: '1 minute' },
  },
  [ACTIVITY.artifactStore]: {
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '1 minute',
    retry: { initialInterval: '1s', maximumInterval: '10s' },
  },
  [ACTIVITY.pollVideos]: (tick: {
    readonly budgetMs: number;
    readonly minIntervalMs: number;
  }): ActivityOptions => ({
    startToCloseTimeout: tick.budgetMs + POLL_TIMEOUTS.overBudgetMs,
    scheduleToCloseTimeout: POLL_TIMEOUTS.scheduleToCloseMs,
    // Retries of the entire tick also respect the cadence's minimum interval, even if it exceeds the usual maximum. A
    // maximum below the initial interval would make the command invalid and block the workflow.
    retry: {
      initialInterval: tick.minIntervalMs,
      backoffCoefficient: 1.5,
      maximumInterval: Math.max(15_000, tick.minIntervalMs),
    },
  }),
  // This activity stays open until the watcher completes it. Retries write no events, and the activity sets the time
  // between them.
  [ACTIVITY.watchVideo]: ({ limitMs }: { readonly limitMs: number }): ActivityOptions => ({
    startToCloseTimeout: Math.min(WATCH_TIMEOUTS.startToCloseMs, limitMs),
    scheduleToCloseTimeout: limitMs,
    // A canceled video ends immediately and then notifies its watcher.
    cancellationType: ActivityCancellationType.ABANDON,
    // An older worker does not have this activity. The video then polls on its own.
    retry: { initialInterval: '1s', maximumInterval: '10s', nonRetryableErrorTypes: ['NotFoundError'] },
  }),
  [ACTIVITY.tellVideos]: {
    startToCloseTimeout: WATCH_TIMEOUTS.tellMs,
    retry: { initialInterval: '1s', maximumInterval: '10s' },
  },
  // One attempt for many videos. If it does not deliver a file, that video fetches the file in its own activity.
  [ACTIVITY.deliverVideos]: {
    scheduleToStartTimeout: WATCH_TIMEOUTS.deliverStartMs,
    startToCloseTimeout: DOWNLOAD_TIMEOUTS.startToCloseMs,
    heartbeatTimeout: WATCH_TIMEOUTS.deliverHeartbeatMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: 1 },
  },
  [ACTIVITY.downloadVideos]: {
    startToCloseTimeout: DOWNLOAD_TIMEOUTS.startToCloseMs,
    heartbeatTimeout: DOWNLOAD_TIMEOUTS.heartbeatMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: 1 },
  },
  [ACTIVITY.downloadVideo]: {
    startToCloseTimeout: DOWNLOAD_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: DOWNLOAD_TIMEOUTS.scheduleToCloseMs,
    heartbeatTimeout: DOWNLOAD_TIMEOUTS.heartbeatMs,
    // Do not wait for the cancellation to complete: nothing is bought here, and an execution that is about to expire
    // cannot wait for the next heartbeat (architecture: Wait).
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1 minute' },
  },
  [ACTIVITY.resolveUnconfirmed]: {
    startToCloseTimeout: '1 minute',
    // The activity waits for a sender that may still be running. The sender of an image call takes the longest.
    scheduleToCloseTimeout: RECONCILE_TIMEOUTS.settleMs,
    allowEagerDispatch: false,
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  },
  [ACTIVITY.reviewJournal]: {
    startToCloseTimeout: '1 minute',
    scheduleToCloseTimeout: '5 minutes',
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  },
  // Reading an entire manifest and all of its results takes minutes for a million rows.
  [ACTIVITY.planCampaign]: {
    startToCloseTimeout: '2 hours',
    heartbeatTimeout: '1 minute',
    retry: { initialInterval: '1s', maximumInterval: '1 minute' },
  },
  [ACTIVITY.openPage]: PAGES,
  [ACTIVITY.recordRows]: PAGES,
  [ACTIVITY.foldResults]: PAGES,
  [ACTIVITY.keepBooks]: { ...BOOKS, startToCloseTimeout: '1 minute' },
  // The activity waits for sends in flight. An image call takes the longest.
  [ACTIVITY.settleBatch]: { ...BOOKS, startToCloseTimeout: '10 minutes', heartbeatTimeout: '30s' },
  [ACTIVITY.countBills]: {
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '30s',
    retry: { initialInterval: '1s', maximumInterval: '1 minute' },
  },
} satisfies {
  readonly [name in keyof MediaActivities]: ActivityOptions | ((limits: never) => ActivityOptions);
};

/** The activities as workflows call them. Image activities are typed for callers that handle waits themselves. */
interface Called extends Omit<MediaActivities, typeof ACTIVITY.generateImage | typeof ACTIVITY.editImage> {
  [ACTIVITY.generateImage](
    input: GenerateImageInput & { readonly waits: true },
  ): Promise<ImageOutcome | WaitingImage>;
  [ACTIVITY.editImage](
    input: EditImageInput & { readonly waits: true },
  ): Promise<ImageOutcome | WaitingImage>;
}

type Placement<Name extends keyof Called> = {
  readonly taskQueue?: string | undefined;
  readonly summary?: string;
} & ((typeof OPTIONS)[Name] extends (limits: infer Limits) => ActivityOptions ? Limits : unknown);

/**
 * Returns a plain function that runs the activity with the limits for its name. This is the only call to
 * `proxyActivities`.
 */
export function activity<Name extends keyof Called>(name: Name, placement: Placement<Name>): Called[Name] {
  const { taskQueue, summary } = placement;
  const options = OPTIONS[name] as ActivityOptions | ((limits: Placement<Name>) => ActivityOptions);
  const activities = proxyActivities<Record<string, Called[Name] & ((input: never) => Promise<unknown>)>>({
    ...given({ taskQueue, summary }),
    ...(typeof options === 'function' ? options(placement) : options),
  });
  return activities[name] as Called[Name];
}
