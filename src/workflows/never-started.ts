import { TimeoutFailure } from '@temporalio/workflow';

/** When an activity was scheduled, and how long it may wait for a worker. */
export interface StartWait {
  /** Workflow time in milliseconds. */
  readonly since: number;
  readonly limitMs: number;
}

/** Delay of the server's timers and of the delivery to a workflow worker, in milliseconds. */
const LATE_MS = 10_000;

/**
 * Whether the server timed an activity out before any worker had it: then nothing was sent. One that timed out later
 * than its limit may have started before, and is looked up.
 */
export function neverStarted(cause: unknown, { since, limitMs }: StartWait): boolean {
  return isUntaken(cause) && Date.now() - since <= limitMs + LATE_MS;
}

/**
 * Whether no worker had the last attempt of an activity and the failure shows no earlier one. The limit applies to
 * every attempt, and an attempt that started leaves its heartbeat and its failure; but a reset by an operator removes
 * both and starts the limit again.
 */
export function isUntaken(cause: unknown): boolean {
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'SCHEDULE_TO_START') return false;
  // The converter drops the cause of a timeout; only the server's original failure has it.
  return cause.lastHeartbeatDetails == null && cause.failure?.cause == null;
}
