import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  defineUpdate,
  isCancellation,
} from '@temporalio/workflow';
import { type SettledCreate } from '../domain/create-once';
import { ACTIVITY, UPDATE } from '../domain/names';
import { type UnconfirmedCall } from '../domain/paid-call';
import { POLL_TIMEOUTS } from '../domain/timeouts';
import {
  decisionIssue,
  type ResolveUnconfirmedCall,
  type ResolveUnconfirmedResult,
  type UnconfirmedDecision,
  type UnresolvedReason,
  type VideoUpdates,
} from '../domain/unconfirmed-decision';
import { onUpdate } from './handlers';
import { activity } from './proxies';
import { executionExpiresAt } from './timers';

export type Decided =
  | { readonly kind: 'settled'; readonly answer: SettledCreate }
  /**
   * A person authorized another send after this one. The journal is read again first, because a late task ID may have
   * been recorded.
   */
  | { readonly kind: 'resubmit' };

interface AwaitDecisionOptions {
  readonly creationKey: string;
  readonly taskQueue: string;
}

/**
 * Waits until a person decides about an unconfirmed create (failure model: The log). The input `onUnconfirmed` requests
 * this. The decision takes effect once it is in the journal. If the workflow is canceled or about to expire, the result
 * stays unconfirmed.
 */
export async function awaitDecision(
  unconfirmed: UnconfirmedCall,
  decisions: Decisions,
  options: AwaitDecisionOptions,
): Promise<Decided> {
  const decided = await decide(unconfirmed, decisions, options);
  const late = 'The outcome is now known, or another decision was applied.';
  decisions.close(() => notResolved(options.creationKey, 'already_decided', late));
  // Every Update gets a reply before this workflow can end.
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
      // An Update may have been accepted in the same workflow task as the cancellation.
      open = decisions.take();
    }
    if (open === undefined) return { kind: 'settled', answer: unconfirmed };
    const result = await carryOut(open, options);
    open.settle(result);
    if (result.answer !== null && isSettled(result.answer)) return { kind: 'settled', answer: result.answer };
    // A decision that was recorded elsewhere has the same effect as one that arrived here.
    const decided = result.resolved ? result : result.stands;
    if (decided?.decision === 'resubmit') return { kind: 'resubmit' };
  }
}

/** Applies an accepted decision, even if the workflow is canceled. */
async function carryOut(
  open: OpenDecision,
  { creationKey, taskQueue }: AwaitDecisionOptions,
): Promise<ResolveUnconfirmedResult> {
  const { call } = open;
  const resolve = activity(ACTIVITY.resolveUnconfirmed, { taskQueue, summary: call.decision });
  try {
    return await CancellationScope.nonCancellable(() => resolve({ creationKey, ...call }));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const message =
      'No worker could apply the decision in time. It may already be in the journal. Send it again.';
    return notResolved(creationKey, 'service_unavailable', message);
  }
}

type Answer = Exclude<ResolveUnconfirmedResult['answer'], null>;

const isSettled = (answer: Answer): answer is Exclude<SettledCreate, { outcome: 'unconfirmed' }> =>
  answer.outcome === 'created' || answer.outcome === 'rejected';

function notResolved(
  creationKey: string,
  reason: UnresolvedReason,
  message: string,
): ResolveUnconfirmedResult {
  return { resolved: false, reason, creationKey, answer: null, message };
}

/**
 * Returns the time left to wait; null if nothing expires. If the execution expired first, there would be no outcome.
 */
function timeLeft(): number | null {
  const expiresAt = executionExpiresAt();
  return expiresAt === null ? null : Math.max(1, expiresAt - POLL_TIMEOUTS.expiryMarginMs - Date.now());
}

/**
 * The `adopt` Update: records that the unconfirmed create resulted in this task. The workflow waits for the task and
 * buys nothing.
 */
export const adoptUpdate = defineUpdate<ResolveUnconfirmedResult, [VideoUpdates['adopt']]>(UPDATE.adopt);
/** The `declareLost` Update: records that the service accepted nothing. Nothing will be sent again under this key. */
export const declareLostUpdate = defineUpdate<ResolveUnconfirmedResult, [VideoUpdates['declareLost']]>(
  UPDATE.declareLost,
);
/** The `resubmit` Update: sends the create again. If the first create was in fact accepted, this buys a second time. */
export const resubmitUpdate = defineUpdate<ResolveUnconfirmedResult, [VideoUpdates['resubmit']]>(
  UPDATE.resubmit,
);

/** An accepted decision that is not applied yet. */
interface OpenDecision {
  readonly call: Omit<ResolveUnconfirmedCall, 'creationKey'>;
  settle(result: ResolveUnconfirmedResult): void;
}

/**
 * Accepts decisions about an unconfirmed create (architecture: Names). The handlers only validate and enqueue
 * decisions. The workflow then applies them. If there is nothing to decide, Updates are rejected and leave no event.
 */
export class Decisions {
  private readonly queue: OpenDecision[] = [];
  private waiting = false;

  /** Must be called before the first await, because an Update may arrive with the first workflow task. */
  accept(): void {
    const updates = { adopt: adoptUpdate, declareLost: declareLostUpdate, resubmit: resubmitUpdate };
    for (const [decision, update] of Object.entries(updates) as [UnconfirmedDecision, typeof adoptUpdate][])
      onUpdate(
        update,
        (given) => this.issueOf({ ...(given as GivenDecision), decision }),
        (given: GivenDecision) => this.enqueue({ ...given, decision }),
      );
  }

  /** Returns the next decision, or undefined if none arrived in time. Throws if the workflow is canceled. */
  async next(withinMs: number | null): Promise<OpenDecision | undefined> {
    this.waiting = true;
    const there = (): boolean => this.queue.length > 0;
    if (withinMs === null) await condition(there);
    else await condition(there, withinMs);
    return this.take();
  }

  take(): OpenDecision | undefined {
    return this.queue.shift();
  }

  /** Rejects later Updates and settles open ones once nothing is left to decide. */
  close(settle: () => ResolveUnconfirmedResult): void {
    this.waiting = false;
    for (const open of this.queue.splice(0)) open.settle(settle());
  }

  private issueOf(given: GivenDecision): string | undefined {
    return this.waiting
      ? decisionIssue(given)
      : 'There is nothing to decide: this workflow is not waiting for a decision about a create.';
  }

  private async enqueue(
    given: GivenDecision & Pick<ResolveUnconfirmedCall, 'decision'>,
  ): Promise<ResolveUnconfirmedResult> {
    let result: ResolveUnconfirmedResult | undefined;
    const { sendId, decision, taskId, by, reason } = given;
    this.queue.push({
      call: {
        sendId: String(sendId),
        decision,
        ...(typeof taskId === 'string' && { taskId }),
        by: String(by),
        reason: String(reason),
      },
      settle: (settled) => {
        result = settled;
      },
    });
    // Canceling the workflow does not undo an accepted Update. Its sender still receives the result.
    await CancellationScope.nonCancellable(() => condition(() => result !== undefined));
    return result as unknown as ResolveUnconfirmedResult;
  }
}

type GivenDecision = Parameters<typeof decisionIssue>[0];
