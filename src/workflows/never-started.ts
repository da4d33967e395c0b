import { TimeoutFailure } from '@temporalio/workflow';

/** When an activity was asked for, and how long it might wait for a worker. */
export interface StartWait {
  /** Workflow time in milliseconds. */
  readonly since: number;
  readonly limitMs: number;
}

/** The server's timers, and the way of the news to a workflow worker. */
const LATE_MS = 10_000;

/**
 * Whether the server gave an activity up before any worker had it: then nothing was sent. What was given up later than the
 * limit says may have started before, and is looked up.
 */
export function neverStarted(cause: unknown, { since, limitMs }: StartWait): boolean {
  return isUntaken(cause) && Date.now() - since <= limitMs + LATE_MS;
}

/**
 * Whether no worker had the last try of an activity, and nothing tells of one before. The limit holds for every attempt,
 * and an attempt that began leaves its heartbeat and its failure; but a reset by an operator takes both away and begins the
 * limit anew.
 */
export function isUntaken(cause: unknown): boolean {
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'SCHEDULE_TO_START') return false;
  // The converter drops the cause of a timeout: it stands only in the failure as the server wrote it.
  return cause.lastHeartbeatDetails == null && cause.failure?.cause == null;
}
