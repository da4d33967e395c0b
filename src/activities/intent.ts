import { createHash, randomUUID } from 'node:crypto';
import { type CreatePolicy, type ResolvedCreatePolicy } from '../domain/create-policy';
import { fingerprintText } from '../domain/fingerprint';
import { type BindingStatus } from '../domain/journal';
import { given } from '../domain/json';
import {
  type FenceEntry,
  honouredKey,
  type IntentEntry,
  type RecordedAnswer,
  type Send,
} from '../domain/log-entries';
import { type Labels } from '../domain/money';
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

/** The parts of a paid call that depend on its kind. */
export interface PaidSpec {
  readonly paid: PaidRequest;
  readonly creationKey: string;
  readonly facts: Pick<IntentEntry, 'durationSeconds' | 'resolution' | 'referenceMode'>;
  readonly account?: string | undefined;
  readonly policy?: CreatePolicy | undefined;
  readonly labels?: Labels | undefined;
  /** The campaign batch that pays. Nothing is sent once the batch is closed. */
  readonly payer?: string | undefined;
  /** Milliseconds needed between receiving the reply and writing its outcome. */
  readonly afterReplyMs: number;
  /** Whether the activity reconciles its own sends. If so, a retry can send again after a proven refusal. */
  readonly retries: boolean;
  /** Whether its attempts also wait for a person to fix a standing refusal. @default false */
  readonly waitsItself?: boolean | undefined;
  readonly sender: Sender;
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  /** Whether a person wants the request sent again after another run was refused. */
  readonly again?: boolean | undefined;
  /** Set to return only what is recorded. An open send stays open. */
  readonly recordedOnly?: true;
  /**
   * Scheduled time (ISO 8601) of a call that may have been lost together with its heartbeats. Set if the caller wants
   * only what is recorded about that call.
   */
  readonly recordedSince?: string | undefined;
  /** The unconfirmed send that may be sent again under its idempotency key. */
  readonly sameKey?: string | undefined;
  /**
   * The agreed price in micro-units: nothing is sent if the call now costs more. Null or absent if no price was agreed.
   */
  readonly agreedPrice?: number | null | undefined;
  /**
   * Set if the caller accounts for all costs under its keys: if another request owns the key, the answer then includes
   * what that request may cost.
   */
  readonly keepsBooks?: true;
  prepare(account: Account): Promise<Prepared>;
  /** Completes a recorded answer with results that can still be fetched without a send. */
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

/** A call whose intent is known to the server. */
export interface PostedCall extends Pick<AdmittedCall, 'account' | 'ready' | 'base'> {
  readonly intent: IntentEntry;
  readonly window: SendWindow;
  /** Sends in a span, within the time left for the request. */
  readonly exchange: <Reply extends Accepted | PaidFailure>(
    send: (options: PaidSendOptions) => Promise<Reply>,
  ) => Promise<Reply>;
}

/** The result of one execution. If it is pending, the caller decides how to wait for the other sender. */
export interface SendOnceResult {
  readonly answer: RecordedAnswer | PendingCall;
  /** The send that the answer is about, or null if there was none or only another journal contains it. */
  readonly send: Send['sent'] | null;
  /** Set if the answer was recorded before and this execution has sent nothing. */
  readonly isRecorded?: true;
}

/** A call whose log was read, before its send. */
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

/** A call that may be sent, with its account and its body. */
export interface AdmittedCall extends OpenedCall {
  readonly account: Account;
  readonly ready: ReadyCall;
}

/** Returns the sender's fields in the format that every entry about a send uses. */
export function sentBy({ namespace, workflowId, runId, ancestors, activityId, sender, attemptAt }: Caller) {
  const above = ancestors.length > 0 ? { ancestors } : {};
  return { namespace, workflowId, runId, ...above, activityId, sender, attemptAt };
}

/**
 * Returns the entry that permanently excludes a sender. The entry names the workflows that may use the sender's key
 * again.
 */
export function fenceOf(who: Caller): FenceEntry {
  const { runId: _, attemptAt: __, ...names } = sentBy(who);
  return { v: 1, kind: 'fence', ...names, at: new Date().toISOString() };
}

/** Returns the intent that is written before a send, at the beginning of its window. */
export function intentOf(
  { spec, account, ready, policy, who, fingerprint, binding, base }: AdmittedCall,
  window: SendWindow,
  made: Pick<IntentEntry, 'process' | 'reserved'>,
): IntentEntry {
  const { paid, creationKey, facts, payer, labels } = spec;
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
    ...given({ payer, labels }),
    idempotencyKey: idempotencyKey(binding.journalId, who.namespace, creationKey, base.sendAttempt),
    ...given({ idempotency: honoured }),
    at: new Date(at).toISOString(),
    sendWindowEnd: new Date(recordedEnd(window)).toISOString(),
    ...made,
  };
}

/**
 * Returns the header value for the `idempotency` policy. It differs for each send, because a send that a person
 * authorized again is a separate purchase. It also differs for each journal, because two deployments with the same
 * account may use the same creation keys. Later sends under this intent use the recorded key.
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

/**
 * Returns null if one of the request's files could not be read: without its hash, the same request would look like a
 * different one.
 */
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
    'This worker does not have this account, and nothing was sent. A worker that has the account will take the call. Name an account that the workers have, or start a worker with that credential and base URL.',
  field: 'account',
};

/** Whether the answer reports that nothing was sent. */
export function saysUnsent({ answer, send }: SendOnceResult): boolean {
  if (send !== null) return false;
  return answer.outcome === 'rejected' || (answer.outcome === 'not_sent' && answer.cause !== 'fenced');
}
