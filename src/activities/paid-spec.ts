import { type BindingStatus } from '../domain/journal-binding';
import { type CreatePolicy, type ResolvedCreatePolicy } from '../domain/create-policy';
import { type PendingCall } from '../domain/paid-call';
import { type Account } from '../accounts/registry';
import { type IntentEntry, type RecordedAnswer, type Send } from '../domain/log-entries';
import { type PaidRequest } from '../domain/request';
import { type PaidFailure, type PaidSendOptions } from '../service/media-client';
import { type KeyLog } from './key-log';
import { type Accepted } from './media-spans';
import { type AnswerBase } from './paid-answers';
import { type Sender, type SendWindow } from './sender';
import { type Caller, type PaidDeps, type Prepared, type ReadyCall } from './paid-context';

/** One paid call: what differs between the kinds of paid calls. */
export interface PaidSpec {
  readonly paid: PaidRequest;
  readonly creationKey: string;
  readonly facts: Pick<IntentEntry, 'durationSeconds' | 'resolution' | 'referenceMode'>;
  readonly account?: string | undefined;
  readonly policy?: CreatePolicy | undefined;
  /** The batch of a campaign that pays: nothing is sent once it is closed. */
  readonly payer?: string | undefined;
  /** Milliseconds of work that may follow the reply before its outcome is written. */
  readonly afterReplyMs: number;
  /** Whether the activity is its own reconciliation: a retry of it may send again after a proven refusal. */
  readonly retries: boolean;
  readonly sender: Sender;
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  /** A person wants the request sent again after a refusal that another run received. */
  readonly again?: boolean | undefined;
  /** Return only what is recorded; an open send stays as it is. */
  readonly recordedOnly?: true;
  /** When a call was scheduled that may be lost together with its heartbeats (ISO 8601); its records are wanted. */
  readonly recordedSince?: string | undefined;
  /** The send of unknown fate that may be sent again under its idempotency key. */
  readonly sameKey?: string | undefined;
  /** The agreed price in micro-units: nothing is sent where it costs more by now. Null or absent: none was agreed. */
  readonly agreedPrice?: number | null | undefined;
  /**
   * The caller accounts for everything under its keys: where another request holds the key, the answer says what that
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
  /** Sends in a span, with what is left of the time of the request. */
  readonly exchange: <Reply extends Accepted | PaidFailure>(
    send: (options: PaidSendOptions) => Promise<Reply>,
  ) => Promise<Reply>;
}

/** The result of one execution. Where it is pending, the caller decides how to wait for the other sender. */
export interface SendOnceResult {
  readonly answer: RecordedAnswer | PendingCall;
  /** The send that it is about; null where there was none, or where nobody but another journal knows it. */
  readonly send: Send['sent'] | null;
  /** It was recorded before: this execution has sent nothing. */
  readonly isRecorded?: true;
}

/** A call whose log was read, on the way to its send. */
export interface OpenedCall {
  readonly deps: PaidDeps;
  readonly who: Caller;
  readonly spec: PaidSpec;
  readonly stands: Extract<BindingStatus, { bound: true }>;
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
