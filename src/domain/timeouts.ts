/**
 * One table of timeouts, in milliseconds (architecture: Create): a change here changes what old histories waited for,
 * not whether they replay.
 */

/** Longest `requestSeconds` of a model's entry. */
export const MAX_REQUEST_SECONDS = 900;

export const CREATE_TIMEOUTS = {
  /** Total time of the POST, from connect to the last byte of the reply, where the model's entry names none. */
  httpBudgetMs: 60_000,
  /**
   * Room for the longest time that an entry may name: the workflow does not know the entry. An attempt that hangs is found
   * out sooner, because it beats no longer than its own request may take.
   */
  startToCloseMs: MAX_REQUEST_SECONDS * 1000 + 150_000,
  /** Everything that comes before the intent: an attempt that takes longer beats no more. */
  prepareMs: 120_000,
  /** From the intent to the first byte. */
  sendWithinMs: 10_000,
  heartbeatMs: 10_000,
  /** Added to the time of a sender: after that it is certainly done. */
  zombieMarginMs: 10_000,
  /** The workflow's own timer outlasts the activity by this: some operator commands leave it without any timeout (failure model: What Temporal runs again). */
  raceMarginMs: 30_000,
} as const;

export const RECONCILE_TIMEOUTS = {
  startToCloseMs: 30_000,
  /** Waiting for a zombie and for an inspector's second look happens inside the activity's retries: twice the longest request. */
  settleMs: 2 * MAX_REQUEST_SECONDS * 1000 + 15 * 60_000,
} as const;

export const IMAGE_TIMEOUTS = {
  /** Total time of the paid exchange where the model's entry names none: images are synchronous and take their time. */
  httpBudgetMs: 240_000,
  /** Room for the longest time that an entry may name, as for creates, and for keeping the results. */
  startToCloseMs: MAX_REQUEST_SECONDS * 1000 + 390_000,
  /** Keeping the results, after the reply. */
  keepMs: 240_000,
  heartbeatMs: 10_000,
  maximumAttempts: 5,
  /** Longest Retry-After that is waited for; a longer one is told to the caller. */
  longestPauseMs: 15 * 60_000,
  /** What keeping the results must leave of its time, to write the outcome. */
  keepMarginMs: 20_000,
} as const;

export const POLL_TIMEOUTS = {
  /** Start-to-close of a tick is its soft budget plus this (architecture: Poll). */
  overBudgetMs: 10_000,
  /** A tick is given up after this and counts as missed. */
  scheduleToCloseMs: 60_000,
  /** Time that must be left between the end of a wait and the end of the execution, besides one tick. */
  expiryMarginMs: 10_000,
} as const;

export const DOWNLOAD_TIMEOUTS = {
  /** One attempt: a large file over a slow line. */
  startToCloseMs: 45 * 60_000,
  heartbeatMs: 30_000,
  /** All attempts: a worker is waited for as long as by a create, and a place that is away for as long again. */
  scheduleToCloseMs: 48 * 60 * 60_000,
} as const;

/** How long a caller waits for a video unless it says otherwise (C8.5). */
export const DEFAULT_WAIT_MS = 15 * 60_000;
