import { activityInfo } from '@temporalio/activity';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { attemptClock } from '../domain/attempt-clock';
import { type Money } from '../domain/price';
import { type CreateJournal, keepsNothing } from '../domain/journal';
import { type CheckBinding } from '../domain/journal-binding';
import { type CreatePolicy, type IdempotencyPolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/failure-table';
import { type Ancestry, type NamedSender, senderName } from '../domain/paid-call';
import { type PollingProfile } from '../domain/polling-profile';
import { IMAGE_TIMEOUTS } from '../domain/timeouts';
import { type ValidationIssue } from '../domain/validation-issue';
import { type ModelSource } from '../models/model-source';
import { type AccountRegistry } from '../accounts/registry';
import { unsafeRetryPolicy } from './failures';
import { type PaidEvents } from './paid-events';
import { type RefusalGate } from './refusal-gate';
import { type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { type TaskRecords } from './task-records';

/** What the paid activities need; see `createMediaActivities`. */
export interface PaidDeps {
  readonly accounts: AccountRegistry;
  readonly artifacts: ArtifactStore;
  readonly models: ModelSource;
  readonly journal: CreateJournal;
  /**
   * Checks whether this journal is bound to the queue on which the activity runs: only then may it send, or prove "not
   * sent".
   */
  readonly standing: CheckBinding;
  readonly policy: CreatePolicy | undefined;
  /** Shared by all paid calls of the process. */
  readonly gate: RefusalGate;
  /** Searches the service's own records of tasks, where it has any. */
  readonly taskRecords?: TaskRecords | undefined;
  /** Folders below which `{file}` sources may be read. */
  readonly inputRoots: readonly string[];
  /** @default reports nothing */
  readonly events?: PaidEvents | undefined;
}

/** The caller, from the activity's context. */
export interface Caller {
  readonly namespace: string;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly ancestors: readonly string[];
  readonly activityId: string;
  /** Names the activity in the logs of the journal, in all of its tries. */
  readonly sender: string;
  readonly attempt: number;
  /** When the server scheduled this attempt, ISO 8601. */
  readonly attemptAt: string;
  /** When the server scheduled the activity, ISO 8601. */
  readonly scheduledAt: string;
  /**
   * Whether an earlier try of the activity may have sent, and may live: a retry, or a try after an operator's reset, which
   * sets the number of the attempt back.
   */
  readonly isLater: boolean;
  readonly isLastAttempt: boolean;
  readonly startToCloseMs: number;
  readonly scheduleToCloseMs: number;
  /** In milliseconds of `performance.now`. */
  readonly startedAt: number;
  /** The server's time, for waits: see {@link attemptClock}. */
  readonly serverTime: () => number;
  /** The wall clock, for limits that other workers or the service have set: never behind the server's time. */
  readonly now: () => number;
}

/** Whether the running activity was handed out before: see {@link Caller.isLater}. */
export function isLaterTry(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  return attempt > 1 || currentAttemptScheduledTimestampMs !== scheduledTimestampMs;
}

/** @param input of the call */
export function caller({ ancestors = [], sender }: Ancestry & NamedSender = {}): Caller {
  const info = activityInfo();
  const scheduledAt = new Date(info.scheduledTimestampMs).toISOString();
  const attemptAt = new Date(info.currentAttemptScheduledTimestampMs).toISOString();
  const serverTime = attemptClock(info, () => performance.now());
  // A policy that sets no limit would try for ever.
  const attempts = info.retryPolicy?.maximumAttempts || IMAGE_TIMEOUTS.maximumAttempts;
  const runId = info.workflowExecution?.runId ?? info.activityRunId ?? null;
  return {
    namespace: info.workflowNamespace ?? info.namespace,
    workflowId: info.workflowExecution?.workflowId ?? null,
    // An activity that no workflow scheduled has a run id of its own.
    runId,
    ancestors,
    activityId: info.activityId,
    sender: sender ?? senderName(runId, info.activityId),
    attempt: info.attempt,
    attemptAt,
    scheduledAt,
    isLater: isLaterTry(),
    isLastAttempt: info.attempt >= attempts,
    startToCloseMs: info.startToCloseTimeoutMs,
    scheduleToCloseMs: info.scheduleToCloseTimeoutMs,
    startedAt: performance.now(),
    serverTime,
    now: () => Math.max(Date.now(), serverTime()),
  };
}

/**
 * Without a journal nothing stops a second attempt from buying again, so only one is allowed (architecture: Create).
 */
export function refuseUnsafeRetries(journal: CreateJournal): void {
  if (!keepsNothing(journal)) return;
  const info = activityInfo();
  const attempts = info.retryPolicy?.maximumAttempts ?? 0;
  if (attempts !== 1 || info.attempt > 1) throw unsafeRetryPolicy(info.attempt);
}

/** A paid call before its send. */
export type Prepared = ReadyCall | UnreadyCall;

/** Why a call is not sent now. */
type UnreadyCall = {
  /** As of {@link ReadyCall}; null where a file cannot be read or the shape is wrong, so that there is no fingerprint. */
  readonly fileHashes: ReadonlyMap<string, string> | null;
} & (
  | { readonly kind: 'invalid'; readonly issue: ValidationIssue }
  /** The model configuration is unavailable: the call waits unsent (architecture: Models). */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** This worker lacks something that another may have: the call waits for that worker. */
  | { readonly kind: 'missing'; readonly missing: MissingHere }
);

/** What a worker lacks, and why the call is rejected when no worker has had it within the start limit. */
export interface MissingHere {
  /** Public name. */
  readonly cause: 'account_not_configured' | 'no_key' | 'artifact_missing';
  readonly reason: RejectReason;
  readonly message: string;
  readonly field?: string;
}

export interface ReadyCall {
  readonly kind: 'ready';
  readonly body: WireJsonBody | WireMultipartBody;
  readonly estimate: Money | null;
  readonly polling?: PollingProfile | undefined;
  /** Milliseconds for the whole exchange. */
  readonly budgetMs: number;
  /** The idempotency policy of the model's configuration; overrides that of the worker. */
  readonly idempotency?: IdempotencyPolicy | undefined;
  readonly warnings: readonly string[];
  /** Every `{file}` that could be read, for the fingerprint. */
  readonly fileHashes: ReadonlyMap<string, string>;
  /** Its body has signed addresses, which are other ones at each send: it is never sent again under one key. */
  readonly isSigned?: boolean;
}

/** Warning for a model that is not in the configuration: the call passed with the safe fields only. */
export const NOT_VALIDATED = 'The model is not in the configuration: its values were not validated.';

export function isKnownModel(prepared: Prepared): boolean {
  return prepared.kind === 'ready' && !prepared.warnings.includes(NOT_VALIDATED);
}

/** For a body that could not be built although no field was named. */
export const UNSENDABLE: ValidationIssue = {
  field: 'request',
  message: 'The request cannot be put into a body.',
};

/** The policy of the model's configuration; overrides the worker's policy, not the caller's. */
export function preferred(prepared: Prepared): CreatePolicy | undefined {
  return prepared.kind === 'ready' && prepared.idempotency !== undefined
    ? { idempotency: prepared.idempotency }
    : undefined;
}
