import { cancellationSignal } from '@temporalio/activity';
import { type NotSent } from '../domain/paid-call';
import { type AnswerBase } from './paid-answers';
import { type Caller } from './paid-context';
import { type SendWindow } from './send-window';

/**
 * Settles a shutdown, a cancellation or a late start before the send as not sent; later nothing is cut off (failure
 * model: row 12).
 */
export function stopsBeforeSend(
  base: AnswerBase,
  who: Caller,
  { budgetMs, sendBy }: SendWindow,
): NotSent | undefined {
  const notSent = { ...base, outcome: 'not_sent', sendAttemptUsed: true } as const;
  // No retry of this run gets more time.
  if (who.startToCloseMs < budgetMs) {
    return { ...notSent, cause: 'execution_expires', permanent: true, message: tooShort(who, budgetMs) };
  }
  const late = Date.now() > sendBy;
  if (!late && !cancellationSignal().aborted) return undefined;
  return {
    ...notSent,
    cause: late ? 'own_deadline' : 'worker_shutdown',
    permanent: false,
    message: late
      ? 'Preparing the request took too long, and nothing was sent.'
      : 'The worker stopped before the request was sent.',
  };
}

/** For what comes before and after the request, in milliseconds. */
const LEAST_MARGIN_MS = 20_000;

function tooShort({ startToCloseMs, scheduleToCloseMs }: Caller, budgetMs: number): string {
  const [given, needed, least] = [startToCloseMs, budgetMs, budgetMs + LEAST_MARGIN_MS].map(
    (ms) => `${ms / 1000} s`,
  );
  // The server limits both timeouts to the rest of an execution: where they differ, the activity's own one is too
  // short.
  return startToCloseMs < scheduleToCloseMs || scheduleToCloseMs === 0
    ? `startToCloseTimeout of this activity is ${given}, but the service may take ${needed} to answer, so nothing was sent. Set startToCloseTimeout to ${least} or more.`
    : `The workflow would expire before the service had ${needed} to answer, so nothing was sent. Give it a longer execution or run timeout, and an activity of your own at least ${least} of scheduleToCloseTimeout.`;
}
