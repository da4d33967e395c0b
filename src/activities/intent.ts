import { createHash, randomUUID } from 'node:crypto';
import { type CreatePolicy, type ResolvedCreatePolicy } from '../domain/create-policy';
import { fingerprintText } from '../domain/fingerprint';
import { type BindingStatus } from '../domain/journal';
import {
  type FenceEntry,
  honouredKey,
  type IntentEntry,
  type RecordedAnswer,
  type Send,
} from '../domain/log-entries';
import { type PendingCall } from '../domain/paid-call';
import { type PaidRequest } from '../domain/request';
import { type PaidFailure, type PaidSendOptions } from '../service/media-client';
import { type Account } from '../settings/accounts';
import { type KeyLog } from './key-log';
import { type AnswerBase } from './paid-answers';
import { type Caller, type MissingHere, type PaidDeps, type Prepared, type ReadyCall } from './paid-context';
import { recordedEnd, type SendWindow } from './send-window';
import { type Sender } from './sender';
import { type Accepted } from './spans';

/** One paid call: what differs between the kinds of paid calls. */
export interface PaidSpec {
  readonly paid: PaidRequest;
  readonly creationKey: string;
  readonly facts: Pick<IntentEntry, 'durationSeconds' | 'resolution' | 'referenceMode'>;
  readonly account?: string | undefined;
  readonly policy?: CreatePolicy | undefined;
  /** The campaign batch that pays: nothing is sent once it is closed. */
  readonly payer?: string | undefined;
  /** Milliseconds of work between the reply and the write of its outcome. */
  readonly afterReplyMs: number;
  /** Whether the activity reconciles itself: a retry may send again after a proven refusal. */
  readonly retries: boolean;
  readonly sender: Sender;
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  /** A person wants the request sent again after a refusal that another run received. */
  readonly again?: boolean | undefined;
  /** Returns only what is recorded; an open send stays open. */
  readonly recordedOnly?: true;
  /**
   * ISO 8601 time at which a call was scheduled that may be lost together with its heartbeats; its records are
   * requested.
   */
  readonly recordedSince?: string | undefined;
  /** The send of unknown fate that may be sent again under its idempotency key. */
  readonly sameKey?: string | undefined;
  /** The agreed price in micro-units: nothing is sent if the call costs more by now. Null or absent: none was agreed. */
  readonly agreedPrice?: number | null | undefined;
  /**
   * The caller accounts for everything under its keys: if another request owns the key, the answer includes what that
   * may cost.
   */
  readonly keepsBooks?: true;
  prepare(account: Account): Promise<Prepared>;
  /** Completes a recorded answer with what can still be fetched without a send. */
  complete?(found: {
    readonly account: Account;
    readonly base: AnswerBase;
    readonly log: KeyLog;
    readonly send: Send;
    readonly recorded: RecordedAnswer;
  }): Promise<RecordedAnswer | undefined>;
  /** Sends the request once and classifies the reply. `base.sent` is already true. */
  post(call: PostedCall): Promise<RecordedAnswer>;
}

/** A call whose intent the server knows. */
export interface PostedCall extends Pick<AdmittedCall, 'account' | 'ready' | 'base'> {
  readonly intent: IntentEntry;
  readonly window: SendWindow;
  /** Sends in a span, within the time that is left for the request. */
  readonly exchange: <Reply extends Accepted | PaidFailure>(
    send: (options: PaidSendOptions) => Promise<Reply>,
  ) => Promise<Reply>;
}

/** The result of one execution. If it is pending, the caller decides how to wait for the other sender. */
export interface SendOnceResult {
  readonly answer: RecordedAnswer | PendingCall;
  /** The send that it is about; null if there was none, or if only another journal has it. */
  readonly send: Send['sent'] | null;
  /** It was recorded before: this execution has sent nothing. */
  readonly isRecorded?: true;
}

/** A call whose log was read, on the way to its send. */
export interface OpenedCall {
  readonly deps: PaidDeps;
  readonly who: Caller;
  readonly spec: PaidSpec;
  readonly binding: Extract<BindingStatus, { bound: true }>;
  readonly account: Account | undefined;
  readonly prepared: Prepared;
  readonly fingerprint: string | null;
  readonly policy: ResolvedCreatePolicy;
  readonly log: KeyLog;
  readonly base: AnswerBase;
}

/** A call that may be sent: the account, the body and what its account admits. */
export interface AdmittedCall extends OpenedCall {
  readonly account: Account;
  readonly ready: ReadyCall;
}

/** The sender, in the form that every entry about a send has. */
export function sentBy({ namespace, workflowId, runId, ancestors, activityId, sender, attemptAt }: Caller) {
  const above = ancestors.length > 0 ? { ancestors } : {};
  return { namespace, workflowId, runId, ...above, activityId, sender, attemptAt };
}

/** The entry that excludes a sender permanently. It names the workflows that may request its key again. */
export function fenceOf(who: Caller): FenceEntry {
  const { runId: _, attemptAt: __, ...names } = sentBy(who);
  return { v: 1, kind: 'fence', ...names, at: new Date().toISOString() };
}

/** The intent that is written before a send, at the beginning of its window. */
export function intentOf(
  { spec, account, ready, policy, who, fingerprint, binding, base }: AdmittedCall,
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
    idempotencyKey: idempotencyKey(binding.journalId, who.namespace, creationKey, base.sendAttempt),
    ...(honoured !== undefined && { idempotency: honoured }),
    at: new Date(at).toISOString(),
    sendWindowEnd: new Date(recordedEnd(window)).toISOString(),
  };
}

/**
 * The header value of the policy `idempotency`. One digest per send, because a send that a person authorized again is a
 * separate purchase; and per journal, because two deployments on one account may use the same creation keys. Later
 * sends under this intent use the recorded key.
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

/** Null if a file of the request could not be read: without its hash the same request would look like another. */
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

export const NO_ACCOUNT: MissingHere = {
  cause: 'account_not_configured',
  reason: 'account_not_configured',
  message:
    'This worker has no such account, and nothing was sent. A worker that has it takes the call; name an account that the workers have, or start one with that credential and base address.',
  field: 'account',
};

/** Whether the answer reports that nothing was sent. */
export function saysUnsent({ answer, send }: SendOnceResult): boolean {
  if (send !== null) return false;
  return answer.outcome === 'rejected' || (answer.outcome === 'not_sent' && answer.cause !== 'fenced');
}
