import { randomUUID } from 'node:crypto';
import { type RecordedAnswer, type SlotIntent } from '../domain/create-journal';
import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { honouredKey } from '../domain/same-key';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type Account } from './accounts';
import { type AnswerBase } from './paid-answers';
import { type Caller } from './paid-context';
import { type ReadyCall } from './prepared';
import { type PaidSpec } from './send-once';

/** What an intent keeps of what was asked for (C4.4b): no text of it. */
export type IntentFacts = Pick<
  SlotIntent,
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

/** What is written before a send. */
export function intentOf<Body extends { readonly bodyHash: string }>(
  spec: Pick<PaidSpec<Body, RecordedAnswer>, 'paid' | 'facts' | 'creationKey' | 'httpBudgetMs'>,
  account: Account,
  ready: ReadyCall<Body>,
  base: AnswerBase,
  fingerprint: string,
  who: Caller,
  policy: ResolvedCreatePolicy,
): SlotIntent {
  const at = Date.now();
  const honoured = honouredKey(policy.idempotency, at, spec.httpBudgetMs);
  return {
    v: 1,
    kind: 'intent',
    nonce: randomUUID(),
    operation: spec.paid.operation,
    namespace: who.namespace,
    creationKey: spec.creationKey,
    workflowId: who.workflowId,
    runId: who.runId,
    activityId: who.activityId,
    attemptAt: who.attemptAt,
    fingerprint,
    bodyHash: ready.body.bodyHash,
    account: account.name,
    model: spec.paid.request.model,
    ...spec.facts,
    estimate: base.estimate,
    ...(honoured !== undefined && { idempotency: honoured }),
    at: new Date(at).toISOString(),
    // Start-to-close ends the activity, not the process: the margin covers its last moments.
    sendWindowEnd: new Date(
      who.startedAt + who.startToCloseMs + CREATE_TIMEOUTS.zombieMarginMs,
    ).toISOString(),
  };
}
