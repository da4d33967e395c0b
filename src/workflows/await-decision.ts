import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import { type SettledCreate } from '../domain/create-once';
import { type UnconfirmedCall } from '../domain/paid-call';
import { POLL_TIMEOUTS } from '../domain/timeouts';
import { type ResolveUnconfirmedResult } from '../domain/unconfirmed-decision';
import { type Decisions, type OpenDecision } from './decisions';
import { executionExpiresAt } from './execution-end';
import { resolveUnconfirmedActivity } from './proxies';

export type Decided =
  | { readonly kind: 'settled'; readonly answer: SettledCreate }
  /** Somebody authorised another send after this epoch: the way to it is looked at again, as an id may have come late. */
  | { readonly kind: 'resubmit'; readonly epoch: number };

export interface AwaitDecisionOptions {
  readonly creationKey: string;
  readonly taskQueue: string;
}

/**
 * Waits until somebody decides about a create of unknown fate (failure model: The journal, issue of the input `onUnconfirmed`).
 * The decision counts once it is in the journal. Cancelled, or about to expire, the fate is still unknown and is told so.
 */
export async function awaitDecision(
  unconfirmed: UnconfirmedCall,
  decisions: Decisions,
  options: AwaitDecisionOptions,
): Promise<Decided> {
  const decided = await decide(unconfirmed, decisions, options);
  decisions.close(() =>
    notResolved(
      options.creationKey,
      'already_decided',
      'Its fate is known by now, or another decision was carried out.',
    ),
  );
  // Whoever sent an Update gets its answer before this workflow may end.
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  return decided;
}

async function decide(
  unconfirmed: UnconfirmedCall,
  decisions: Decisions,
  options: AwaitDecisionOptions,
): Promise<Decided> {
  for (;;) {
    let open: OpenDecision | undefined;
    try {
      open = await decisions.next(timeLeft());
    } catch (error) {
      if (!isCancellation(error)) throw error;
      // Accepted together with the cancellation.
      open = decisions.take();
    }
    if (open === undefined) return { kind: 'settled', answer: unconfirmed };
    const result = await carryOut(open, options);
    open.settle(result);
    if (result.answer !== null && isSettled(result.answer)) return { kind: 'settled', answer: result.answer };
    if (result.resolved && result.decision === 'resubmit') return { kind: 'resubmit', epoch: result.epoch };
  }
}

/** Once it was accepted a decision is carried out, whatever becomes of its workflow. */
async function carryOut(
  { decision, taskId, by, reason, ordinal }: OpenDecision,
  { creationKey, taskQueue }: AwaitDecisionOptions,
): Promise<ResolveUnconfirmedResult> {
  const { workflowId, runId } = workflowInfo();
  const resolve = resolveUnconfirmedActivity({ taskQueue, summary: decision });
  try {
    return await CancellationScope.nonCancellable(() =>
      resolve({
        creationKey,
        decision,
        ...(taskId !== undefined && { taskId }),
        by,
        reason,
        decisionId: `${workflowId}/${runId}/${ordinal}`,
      }),
    );
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message =
      'No worker could carry the decision out in time. It may be in the journal: send it again.';
    return notResolved(creationKey, 'service_unavailable', message);
  }
}

type Answer = Exclude<ResolveUnconfirmedResult['answer'], null>;

/** A fate that is known ends the wait; one that is not goes on waiting. */
const isSettled = (answer: Answer): answer is Exclude<SettledCreate, { outcome: 'unconfirmed' }> =>
  answer.outcome === 'created' || answer.outcome === 'rejected';

function notResolved(
  creationKey: string,
  reason: Extract<ResolveUnconfirmedResult, { resolved: false }>['reason'],
  message: string,
): ResolveUnconfirmedResult {
  return { resolved: false, reason, creationKey, answer: null, message };
}

/** Null when nothing expires; a wait that would outlive its execution would end in a timeout that names nothing. */
function timeLeft(): number | null {
  const expiresAt = executionExpiresAt();
  return expiresAt === null ? null : Math.max(1, expiresAt - POLL_TIMEOUTS.expiryMarginMs - Date.now());
}
