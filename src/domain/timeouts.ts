import { type ModelEntry } from './model-config';

/**
 * All timeouts, in milliseconds (architecture: Create). Changing one does not break the replay of old histories.
 */

/** Maximum `requestSeconds` of a model entry. */
export const MAX_REQUEST_SECONDS = 900;

export const CREATE_TIMEOUTS = {
  /** Total time for the POST, from connect to the last byte of the reply, unless the model's entry sets one. */
  httpBudgetMs: 60_000,
  /**
   * Covers the longest `requestSeconds`, because the workflow does not know the model's entry. An attempt that hangs is
   * detected sooner: it stops heartbeating once its own request should have finished.
   */
  startToCloseMs: MAX_REQUEST_SECONDS * 1000 + 150_000,
  /** Time for everything before the intent. An attempt that takes longer stops heartbeating. */
  prepareMs: 120_000,
  /** Maximum time from the intent to the first byte. */
  sendWithinMs: 10_000,
  heartbeatMs: 10_000,
  /** Added to a sender's time limit. After that, the sender has certainly finished. */
  zombieMarginMs: 10_000,
  /**
   * How much longer the workflow's own timer runs than the activity's timeout. It is needed because some operator
   * commands leave the activity without any timeout (failure model: What Temporal runs again).
   */
  raceMarginMs: 30_000,
} as const;

export const RECONCILE_TIMEOUTS = {
  startToCloseMs: 30_000,
  /**
   * Time for all of the activity's retries. It includes twice the longest request, to wait for a late sender and for
   * the second query of the task records.
   */
  settleMs: 2 * MAX_REQUEST_SECONDS * 1000 + 15 * 60_000,
} as const;

export const IMAGE_TIMEOUTS = {
  /** Total time for the paid request unless the model's entry sets one. Image calls are synchronous and slow. */
  httpBudgetMs: 240_000,
  /** Covers the longest `requestSeconds`, as for creates, plus the time to store the results. */
  startToCloseMs: MAX_REQUEST_SECONDS * 1000 + 390_000,
  /** Time to store the results after the reply. */
  keepMs: 240_000,
  heartbeatMs: 10_000,
  /** Maximum attempts of a call that the service refuses, or that waits for another sender. */
  maximumAttempts: 5,
  /** For failures outside of the activity, such as an external storage that is away for up to about an hour. */
  activityAttempts: 60,
  /** Longest Retry-After that the activity waits for. A longer one is returned to the caller. */
  longestPauseMs: 15 * 60_000,
  /** Part of `keepMs` that is reserved for writing the outcome. */
  keepMarginMs: 20_000,
} as const;

export const POLL_TIMEOUTS = {
  /** Added to a tick's soft budget to get its start-to-close timeout (architecture: Wait). */
  overBudgetMs: 10_000,
  /** A tick is abandoned after this time and counts as missed. */
  scheduleToCloseMs: 60_000,
  /** Minimum time between the end of a wait and the end of the execution, in addition to one tick. */
  expiryMarginMs: 10_000,
} as const;

export const WATCH_TIMEOUTS = {
  /** Time limit for one attempt to join a video's watcher. Between attempts, the activity waits on the server. */
  startToCloseMs: 10_000,
  /** Servers limit timeouts. After waiting this long for its watcher, the video polls on its own. */
  longestMs: 365 * 24 * 60 * 60_000,
  tellMs: 30_000,
  /** Longest wait for a worker that runs deliveries. After that, videos get their answers without files. */
  deliverStartMs: 10_000,
  /** Heartbeat timeout of a delivery, which detects a lost worker. */
  deliverHeartbeatMs: 15_000,
} as const;

export const DOWNLOAD_TIMEOUTS = {
  /** Time limit for one attempt: enough for a large file over a slow connection. */
  startToCloseMs: 45 * 60_000,
  heartbeatMs: 30_000,
  /**
   * Time limit across all attempts: the time that a create waits for a worker, plus the same amount for an unavailable
   * host.
   */
  scheduleToCloseMs: 48 * 60 * 60_000,
} as const;

/** Default time to wait for a video. */
export const DEFAULT_WAIT_MS = 15 * 60_000;

/** Returns a model's time limit for one paid request, from connect to the last byte of the reply, in milliseconds. */
export function requestBudgetMs(
  kind: ModelEntry['kind'],
  entry: Pick<ModelEntry, 'requestSeconds'> | undefined,
): number {
  if (entry?.requestSeconds !== undefined) return entry.requestSeconds * 1000;
  return (kind === 'video' ? CREATE_TIMEOUTS : IMAGE_TIMEOUTS).httpBudgetMs;
}

/**
 * Returns the limits and the retry policy of an image activity, in a workflow or without one (architecture: Images).
 * The journal lets a retry send again only after a proven refusal.
 * @param startLimitMs how long the call may wait for a worker, in milliseconds
 */
export function imageActivityOptions(startLimitMs: number) {
  return {
    scheduleToStartTimeout: startLimitMs,
    startToCloseTimeout: IMAGE_TIMEOUTS.startToCloseMs,
    scheduleToCloseTimeout: imageScheduleToCloseMs(startLimitMs),
    heartbeatTimeout: IMAGE_TIMEOUTS.heartbeatMs,
    retry: {
      initialInterval: '2s',
      backoffCoefficient: 2,
      maximumInterval: '1 minute',
      maximumAttempts: IMAGE_TIMEOUTS.activityAttempts,
    },
  } as const;
}

/**
 * Returns the total time for all attempts of an image call and the pauses between them. Each pause can be as long as a
 * Retry-After of 15 minutes.
 */
export function imageScheduleToCloseMs(startLimitMs: number): number {
  const attempt = IMAGE_TIMEOUTS.startToCloseMs + IMAGE_TIMEOUTS.longestPauseMs;
  return startLimitMs + IMAGE_TIMEOUTS.maximumAttempts * attempt;
}
