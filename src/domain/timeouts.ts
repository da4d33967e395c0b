import { type ModelEntry } from './model-config';

/**
 * All timeouts, in milliseconds (architecture: Create). A change here does not break the replay of old histories; it
 * changes only how long they waited.
 */

/** Upper limit of `requestSeconds` in a model's entry. */
export const MAX_REQUEST_SECONDS = 900;

export const CREATE_TIMEOUTS = {
  /** Total time of the POST, from connect to the last byte of the reply, if the model's entry names none. */
  httpBudgetMs: 60_000,
  /**
   * Covers the longest `requestSeconds`, because the workflow does not know the model's entry. An attempt that hangs
   * is detected sooner: it stops heartbeating after the time that its own request may take.
   */
  startToCloseMs: MAX_REQUEST_SECONDS * 1000 + 150_000,
  /** Everything before the intent. An attempt that takes longer stops heartbeating. */
  prepareMs: 120_000,
  /** From the intent to the first byte. */
  sendWithinMs: 10_000,
  heartbeatMs: 10_000,
  /** Added to the time that a sender may take. After that, the sender has certainly finished. */
  zombieMarginMs: 10_000,
  /**
   * The workflow's own timer outlasts the activity by this, because some operator commands leave the activity without
   * any timeout (failure model: What Temporal runs again).
   */
  raceMarginMs: 30_000,
} as const;

export const RECONCILE_TIMEOUTS = {
  startToCloseMs: 30_000,
  /**
   * The activity's retries include waiting for a late sender and for an inspector's second check: twice the longest
   * request.
   */
  settleMs: 2 * MAX_REQUEST_SECONDS * 1000 + 15 * 60_000,
} as const;

export const IMAGE_TIMEOUTS = {
  /** Total time of the paid exchange if the model's entry names none. Image calls are synchronous and slow. */
  httpBudgetMs: 240_000,
  /** Covers the longest `requestSeconds`, as for creates, and the time for storing the results. */
  startToCloseMs: MAX_REQUEST_SECONDS * 1000 + 390_000,
  /** Time for storing the results after the reply. */
  keepMs: 240_000,
  heartbeatMs: 10_000,
  maximumAttempts: 5,
  /** Longest Retry-After that is waited for; a longer one is returned to the caller. */
  longestPauseMs: 15 * 60_000,
  /** Part of `keepMs` that is reserved for writing the outcome. */
  keepMarginMs: 20_000,
} as const;

export const POLL_TIMEOUTS = {
  /** Start-to-close of a tick is its soft budget plus this (architecture: Wait). */
  overBudgetMs: 10_000,
  /** A tick is abandoned after this time and counts as missed. */
  scheduleToCloseMs: 60_000,
  /** Time that must be left between the end of a wait and the end of the execution, besides one tick. */
  expiryMarginMs: 10_000,
} as const;

export const WATCH_TIMEOUTS = {
  /** One attempt of a video to join its watcher; between two attempts it waits in the server. */
  startToCloseMs: 10_000,
  /** Servers limit timeouts. After waiting this long, the video polls on its own. */
  longestMs: 365 * 24 * 60 * 60_000,
  tellMs: 30_000,
  /** Longest wait for a worker that delivers. After that, videos get their answers without files. */
  deliverStartMs: 10_000,
  /** The same for a lost worker. */
  deliverHeartbeatMs: 15_000,
} as const;

export const DOWNLOAD_TIMEOUTS = {
  /** One attempt: a large file over a slow line. */
  startToCloseMs: 45 * 60_000,
  heartbeatMs: 30_000,
  /** All attempts: the time that a create waits for a worker, plus the same time for an unavailable host. */
  scheduleToCloseMs: 48 * 60 * 60_000,
} as const;

/** Default time that a caller waits for a video. */
export const DEFAULT_WAIT_MS = 15 * 60_000;

/** Milliseconds that one paid request of a model may take, from connect to the last byte of the reply. */
export function requestBudgetMs(
  kind: ModelEntry['kind'],
  entry: Pick<ModelEntry, 'requestSeconds'> | undefined,
): number {
  if (entry?.requestSeconds !== undefined) return entry.requestSeconds * 1000;
  return (kind === 'video' ? CREATE_TIMEOUTS : IMAGE_TIMEOUTS).httpBudgetMs;
}
