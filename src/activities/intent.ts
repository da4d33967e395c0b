import { createHash, randomUUID } from 'node:crypto';
import { type FenceEntry, honouredKey, type IntentEntry } from '../domain/log-entries';
import { type PaidRequest } from '../domain/request';
import { type Account } from '../accounts/registry';
import { type Caller } from './paid-context';
import { type AdmittedCall } from './paid-spec';
import { recordedEnd, type SendWindow } from './sender';
import { fingerprintText } from '../domain/fingerprint';

/** Who sends, as every entry about a send names it. */
export function sentBy({ namespace, workflowId, runId, ancestors, activityId, sender, attemptAt }: Caller) {
  const above = ancestors.length > 0 ? { ancestors } : {};
  return { namespace, workflowId, runId, ...above, activityId, sender, attemptAt };
}

/** The entry by which a sender never sends. It names the workflows that may ask for its key again. */
export function fenceOf(who: Caller): FenceEntry {
  const { runId: _, attemptAt: __, ...names } = sentBy(who);
  return { v: 1, kind: 'fence', ...names, at: new Date().toISOString() };
}

/** The intent that is written before a send, at the beginning of its window. */
export function intentOf(
  { spec, account, ready, policy, who, fingerprint, stands, base }: AdmittedCall,
  window: SendWindow,
): IntentEntry {
  const { paid, creationKey, facts, payer } = spec;
  const at = window.began.wall;
  const honoured = ready.isSigned === true ? undefined : honouredKey(policy.idempotency, at, window.budgetMs);
  return {
    v: 1,
    kind: 'intent',
    nonce: randomUUID(),
    operation: paid.operation,
    creationKey,
    ...sentBy(who),
    fingerprint: fingerprint ?? '',
    bodyHash: ready.body.bodyHash,
    account: account.name,
    model: paid.request.model,
    ...facts,
    estimate: ready.estimate,
    ...(payer !== undefined && { payer }),
    idempotencyKey: idempotencyKey(stands.journalId, who.namespace, creationKey, base.sendAttempt),
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
