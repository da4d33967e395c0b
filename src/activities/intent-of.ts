import { randomUUID } from 'node:crypto';
import { type ClaimIntent } from '../domain/journal';
import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { honouredKey } from '../domain/same-key';
import { type PaidRequest } from '../domain/request';
import { type Account } from '../accounts/registry';
import { type Caller, type ReadyCall } from './paid-context';
import { recordedEnd, type SendWindow } from './send-window';

/** The facts of the request that an intent keeps (C4.4b): no text of it. */
export type IntentFacts = Pick<
  ClaimIntent,
  'account' | 'model' | 'durationSeconds' | 'resolution' | 'referenceMode'
>;

export function factsIn({
  account,
  model,
  durationSeconds,
  resolution,
  referenceMode,
}: IntentFacts): IntentFacts {
  return { account, model, durationSeconds, resolution, referenceMode };
}

/** The parts of a paid call that its intent records. */
export interface IntendedCall {
  readonly paid: PaidRequest;
  readonly creationKey: string;
  readonly facts: Pick<ClaimIntent, 'durationSeconds' | 'resolution' | 'referenceMode'>;
  /** The batch of a campaign that pays: nothing is sent once it is closed. */
  readonly payer?: string | undefined;
}

/** The intent that is written before a send, at the beginning of its window. */
export function intentOf<Body extends { readonly bodyHash: string }>(
  spec: IntendedCall,
  account: Account,
  ready: ReadyCall<Body>,
  fingerprint: string,
  who: Caller,
  policy: ResolvedCreatePolicy,
  window: SendWindow,
  idempotencyKey: string,
): ClaimIntent {
  const at = window.began.wall;
  const honoured = ready.isSigned === true ? undefined : honouredKey(policy.idempotency, at, window.budgetMs);
  return {
    v: 1,
    kind: 'intent',
    nonce: randomUUID(),
    operation: spec.paid.operation,
    namespace: who.namespace,
    creationKey: spec.creationKey,
    workflowId: who.workflowId,
    runId: who.runId,
    ...(who.ancestors.length > 0 && { ancestors: who.ancestors }),
    activityId: who.activityId,
    attemptAt: who.attemptAt,
    fingerprint,
    bodyHash: ready.body.bodyHash,
    account: account.name,
    model: spec.paid.request.model,
    ...spec.facts,
    estimate: ready.estimate,
    ...(spec.payer !== undefined && { payer: spec.payer }),
    idempotencyKey,
    ...(honoured !== undefined && { idempotency: honoured }),
    at: new Date(at).toISOString(),
    sendWindowEnd: new Date(recordedEnd(window)).toISOString(),
  };
}
