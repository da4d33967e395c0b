import { activityInfo } from '@temporalio/activity';
import { retryLater } from './failures';

/** Tries of one activity by workers without the account. With a second worker, all of them miss it once in 64 times. */
const TRIES = 6;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Gives another worker of the task queue its turn with a call for an account that this one lacks: throws a retryable
 * failure for the first tries. Pauses grow and vary, so that nothing spins. Only before a request, and not for paid calls,
 * which answer with what is missing.
 * @param withinMs time since the activity was scheduled after which a try is of no use any more, in milliseconds
 */
export function retryOnAnotherWorker(withinMs = Infinity): void {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.5 + Math.random());
  const sinceMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  if (attempt >= TRIES || sinceMs + pauseMs > withinMs) return;
  throw retryLater({
    class: 'account_not_configured',
    message: 'This worker does not have the account: nothing was requested. Another worker gets its turn.',
    delayMs: Math.round(pauseMs),
  });
}
