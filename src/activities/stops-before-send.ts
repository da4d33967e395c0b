import { cancellationSignal } from '@temporalio/activity';
import { type NotSent } from '../domain/paid-call';
import { type AnswerBase } from './paid-answers';
import { type Caller } from './paid-context';

/** Before the marker a shutdown or a late start is settled as not sent; after it nothing is cut off (failure-model row 12). */
export function stopsBeforeSend(base: AnswerBase, who: Caller, httpBudgetMs: number): NotSent | undefined {
  const notSent = { ...base, outcome: 'not_sent', epochUsed: true } as const;
  // The server caps start-to-close at the end of the execution: no later try of this run gets more time.
  if (who.startToCloseMs < httpBudgetMs) {
    const message = `The workflow would expire before the service had ${httpBudgetMs / 1000} s to answer, so nothing was sent. Give it a longer execution or run timeout.`;
    return { ...notSent, cause: 'execution_expires', permanent: true, message };
  }
  const late = Date.now() - who.startedAt > who.startToCloseMs - httpBudgetMs;
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
