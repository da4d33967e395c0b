import { createHash, randomUUID } from 'node:crypto';
import { honouredKey, type IntentEntry } from '../domain/log-entries';
import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { type PaidRequest } from '../domain/request';
import { type Account } from '../accounts/registry';
import { type Caller, type ReadyCall } from './paid-context';
import { recordedEnd, type SendWindow } from './send-window';
import { fingerprintText } from '../domain/fingerprint';

/** The parts of a paid call that its intent records. */
export interface IntendedCall {
  readonly paid: PaidRequest;
  readonly creationKey: string;
  readonly facts: Pick<IntentEntry, 'durationSeconds' | 'resolution' | 'referenceMode'>;
  /** The batch of a campaign that pays: nothing is sent once it is closed. */
  readonly payer?: string | undefined;
}

/** Who sends, as every entry about a send names it. */
export function sentBy({ namespace, workflowId, runId, ancestors, activityId, sender, attemptAt }: Caller) {
  const above = ancestors.length > 0 ? { ancestors } : {};
  return { namespace, workflowId, runId, ...above, activityId, sender, attemptAt };
}

/** The intent that is written before a send, at the beginning of its window. @param index of the send in its log */
export function intentOf(
  { paid, creationKey, facts, payer }: IntendedCall,
  {
    account,
    ready,
    policy,
    window,
  }: {
    readonly account: Account;
    readonly ready: ReadyCall;
    readonly policy: ResolvedCreatePolicy;
    readonly window: SendWindow;
  },
  who: Caller,
  fingerprint: string,
  { journalId, index }: { readonly journalId: string; readonly index: number },
): IntentEntry {
  const at = window.began.wall;
  const honoured = ready.isSigned === true ? undefined : honouredKey(policy.idempotency, at, window.budgetMs);
  return {
    v: 1,
    kind: 'intent',
    nonce: randomUUID(),
    operation: paid.operation,
    creationKey,
    ...sentBy(who),
    fingerprint,
    bodyHash: ready.body.bodyHash,
    account: account.name,
    model: paid.request.model,
    ...facts,
    estimate: ready.estimate,
    ...(payer !== undefined && { payer }),
    idempotencyKey: idempotencyKey(journalId, who.namespace, creationKey, index),
    ...(honoured !== undefined && { idempotency: honoured }),
    at: new Date(at).toISOString(),
    sendWindowEnd: new Date(recordedEnd(window)).toISOString(),
  };
}

/**
 * The header value of the policy `idempotency`: one digest per send, because a send that a person authorised again is a
 * separate purchase, and per journal, because two deployments on one account may use the same creation keys. Whatever is
 * sent under this intent later carries the recorded key.
 */
export function idempotencyKey(
  journalId: string,
  namespace: string,
  creationKey: string,
  index: number,
): string {
  const parts = [journalId, namespace, creationKey, index];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

/** Null where a file of the request could not be read: without its hash the same request would look like another. */
export function fingerprintOf(
  paid: PaidRequest,
  account: Pick<Account, 'name'>,
  fileHashes: ReadonlyMap<string, string>,
): string | null {
  let isKnown = true;
  const text = fingerprintText(paid, account.name, (file) => {
    const hash = fileHashes.get(file);
    isKnown &&= hash !== undefined;
    return hash ?? file;
  });
  return isKnown ? createHash('sha256').update(text).digest('hex') : null;
}
