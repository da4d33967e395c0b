import { activityInfo } from '@temporalio/activity';
import { attemptClock } from '../domain/clocks';
import { type CreatePolicy, type IdempotencyPolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/failure-table';
import { type CheckBinding, type CreateJournal, keepsNothing } from '../domain/journal';
import { type ActualRule } from '../domain/model-config';
import { type Money } from '../domain/money';
import { type Ancestry, type NamedSender, senderName } from '../domain/paid-call';
import { type PaidRequest } from '../domain/request';
import { type ValidationIssue } from '../domain/shape';
import { IMAGE_TIMEOUTS } from '../domain/timeouts';
import { type PollingProfile } from '../domain/video-task';
import { type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { type AccountRegistry } from '../settings/accounts';
import { type ModelSource } from '../settings/model-source';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { unsafeRetryPolicy } from './failures';
import { type PaidEvents } from './media-metrics';
import { type RefusalGate } from './refusal-gate';

/**
 * What is known about a create with an unknown outcome, for a search of the service's own records. Contains no prompt.
 */
export interface SentCreate {
  /** Kind of the paid call. */
  readonly operation: PaidRequest['operation'];
  /** Credential name and digest of the base address. */
  readonly account: string;
  /** Public model ID; null if the journal does not contain it. */
  readonly model: string | null;
  /** Null if the request did not specify one. */
  readonly durationSeconds: number | null;
  /** Null if the request did not specify one. */
  readonly resolution: string | null;
  /** `none`, or reference kinds with their counts; null for an image. */
  readonly referenceMode: string | null;
  /** SHA-256 of the request body. */
  readonly bodyHash: string;
  /** The value for the header of the `idempotency` policy, whether or not the header was sent. */
  readonly idempotencyKey: string;
  /** ISO 8601 time at which the create was sent. */
  readonly intentAt: string;
  /** ISO 8601 time until which the create may have been in flight. */
  readonly sendWindowEnd: string;
  /** Allow-listed reply headers, such as a request ID; empty without a reply. */
  readonly headers: { readonly [name: string]: string };
}

/**
 * What the service's records show about one send. `unknown`: the records could not be read, or are not complete yet.
 */
export type TaskRecord =
  | { readonly found: 'task'; readonly taskId: string }
  /** The records are complete and contain no such task. */
  | { readonly found: 'none' }
  | { readonly found: 'unknown' };

/**
 * Resolves creates with an unknown outcome automatically, if the service lists its tasks, for example in a console's
 * API, a bill or a gateway's log (failure model: The log). The service contract has no such endpoint.
 */
export interface TaskRecords {
  /**
   * How long the service may work on a request before the request's record appears, in milliseconds; at most 10
   * minutes.
   */
  readonly longestRequestMs: number;
  /** Must return `task` only for a task that this exact send created. An exception counts as `unknown`. */
  find(sent: SentCreate): Promise<TaskRecord>;
}

/** The dependencies of paid activities; see `createMediaActivities`. */
export interface PaidDeps {
  readonly accounts: AccountRegistry;
  readonly artifacts: ArtifactStore;
  readonly models: ModelSource;
  readonly journal: CreateJournal;
  /**
   * Checks whether this journal is bound to the activity's queue. Only then may the activity send, or prove "not sent".
   */
  readonly checkBinding: CheckBinding;
  readonly policy: CreatePolicy | undefined;
  /** Shared by all of the process's paid calls. */
  readonly gate: RefusalGate;
  /** Searches the service's own task records, if it has any. */
  readonly taskRecords?: TaskRecords | undefined;
  /** Folders from which `{file}` sources may be read. */
  readonly inputRoots: readonly string[];
  /** @default reports nothing */
  readonly events?: PaidEvents | undefined;
}

/** The caller, as described by the activity's context. */
export interface Caller {
  readonly namespace: string;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly ancestors: readonly string[];
  readonly activityId: string;
  /** Identifies the activity in the journal's logs. It is the same in all of the activity's attempts. */
  readonly sender: string;
  readonly attempt: number;
  /** When the server scheduled this attempt, ISO 8601. */
  readonly attemptAt: string;
  /** When the server scheduled the activity, ISO 8601. */
  readonly scheduledAt: string;
  /**
   * Whether an earlier attempt of the activity may have sent a request and may still be running. True for a retry, and
   * for the first attempt after an operator's reset, which resets the attempt number.
   */
  readonly isLater: boolean;
  readonly isLastAttempt: boolean;
  readonly startToCloseMs: number;
  readonly scheduleToCloseMs: number;
  /** In milliseconds of `performance.now`. */
  readonly startedAt: number;
  /** The server's time, for waits: see {@link attemptClock}. */
  readonly serverTime: () => number;
  /** The wall clock, for limits set by other workers or the service. Never behind the server's time. */
  readonly now: () => number;
}

/** Whether the current activity may have run before: see {@link Caller.isLater}. */
export function isLaterTry(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  return attempt > 1 || currentAttemptScheduledTimestampMs !== scheduledTimestampMs;
}

/** @param input the call's input */
export function caller({ ancestors = [], sender }: Ancestry & NamedSender = {}): Caller {
  const info = activityInfo();
  const scheduledAt = new Date(info.scheduledTimestampMs).toISOString();
  const attemptAt = new Date(info.currentAttemptScheduledTimestampMs).toISOString();
  const serverTime = attemptClock(info, () => performance.now());
  // A policy without a maximum would retry indefinitely. The package's own has attempts for other failures.
  const { maximumAttempts, activityAttempts } = IMAGE_TIMEOUTS;
  const policy = info.retryPolicy?.maximumAttempts || activityAttempts;
  const attempts = policy === activityAttempts ? maximumAttempts : policy;
  const runId = info.workflowExecution?.runId ?? info.activityRunId ?? null;
  return {
    namespace: info.workflowNamespace ?? info.namespace,
    workflowId: info.workflowExecution?.workflowId ?? null,
    // A standalone activity has its own run ID.
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
 * Without a journal, allows only a single attempt, because nothing else would keep a second attempt from buying again
 * (architecture: Create).
 */
export function refuseUnsafeRetries(journal: CreateJournal): void {
  if (isUnsafeRetry(journal)) throw unsafeRetryPolicy(activityInfo().attempt);
}

/** Whether another attempt of this activity could buy again, because this worker has no journal. */
export function isUnsafeRetry(journal: CreateJournal): boolean {
  const { attempt, retryPolicy } = activityInfo();
  return keepsNothing(journal) && (retryPolicy?.maximumAttempts !== 1 || attempt > 1);
}

/** A paid call before it is sent. */
export type Prepared = ReadyCall | UnreadyCall;

/** Why a call is not sent yet. */
type UnreadyCall = {
  /**
   * See {@link ReadyCall}. Null if a file cannot be read or the request's shape is wrong, in which case there is no
   * fingerprint.
   */
  readonly fileHashes: ReadonlyMap<string, string> | null;
} & (
  | { readonly kind: 'invalid'; readonly issue: ValidationIssue }
  /** The model configuration is unavailable. The call waits and is not sent (architecture: Models). */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** This worker lacks something that another worker may have. The call waits for that worker. */
  | { readonly kind: 'missing'; readonly missing: MissingHere }
);

/** What a worker lacks, and the reason for rejecting the call if no worker has it by the start limit. */
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
  /** Where the reply says what the call cost, according to the model's configuration. */
  readonly actual?: ActualRule | undefined;
  readonly polling?: PollingProfile | undefined;
  /** Milliseconds for the entire exchange. */
  readonly budgetMs: number;
  /** The idempotency policy from the model's configuration. It overrides the worker's policy. */
  readonly idempotency?: IdempotencyPolicy | undefined;
  readonly warnings: readonly string[];
  /** Every `{file}` that could be read, for the fingerprint. */
  readonly fileHashes: ReadonlyMap<string, string>;
  /**
   * Whether the body contains signed URLs, which differ with each send. Such a call is never sent again under the same
   * idempotency key.
   */
  readonly isSigned?: boolean;
}

/** Warning for a model that is not in the configuration: only the safe fields were allowed. */
export const NOT_VALIDATED =
  "The model is not in the configuration, so the request's values were not validated.";

export function isKnownModel(prepared: Prepared): boolean {
  return prepared.kind === 'ready' && !prepared.warnings.includes(NOT_VALIDATED);
}

/** The issue for a body that could not be built although no field was at fault. */
export const UNSENDABLE: ValidationIssue = {
  field: 'request',
  message: 'The request could not be converted to a request body.',
};

/** Returns the policy from the model's configuration. It overrides the worker's policy, but not the caller's. */
export function preferred(prepared: Prepared): CreatePolicy | undefined {
  return prepared.kind === 'ready' && prepared.idempotency !== undefined
    ? { idempotency: prepared.idempotency }
    : undefined;
}
