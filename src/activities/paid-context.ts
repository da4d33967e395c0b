import { activityInfo } from '@temporalio/activity';
import { attemptClock } from '../domain/clocks';
import { type CreatePolicy, type IdempotencyPolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/failure-table';
import { type CheckBinding, type CreateJournal, keepsNothing } from '../domain/journal';
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
 * What is known about a create with an unknown outcome, for searching the service's own records. Contains no prompt.
 */
export interface SentCreate {
  /** Kind of the paid call. */
  readonly operation: PaidRequest['operation'];
  /** Credential name and digest of the base address. */
  readonly account: string;
  /** Public model id; null if the journal does not say. */
  readonly model: string | null;
  /** Null where the request named none. */
  readonly durationSeconds: number | null;
  /** Null where the request named none. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
  /** SHA-256 of the request body. */
  readonly bodyHash: string;
  /** The value for the header of the policy `idempotency`, whether or not it was sent. */
  readonly idempotencyKey: string;
  /** ISO 8601 time at which the create was sent. */
  readonly intentAt: string;
  /** ISO 8601 time until which the create may have been in flight. */
  readonly sendWindowEnd: string;
  /** Allow-listed reply headers, such as a request id; empty without a reply. */
  readonly headers: { readonly [name: string]: string };
}

/** What the service's records show about one send. `unknown`: they could not be read, or are not complete yet. */
export type TaskRecord =
  | { readonly found: 'task'; readonly taskId: string }
  /** The records are complete and contain no such task. */
  | { readonly found: 'none' }
  | { readonly found: 'unknown' };

/**
 * Settles creates with an unknown outcome without a person, if a service lists its tasks, for example in a console's
 * API, a bill or a gateway's log (failure model: The log). The service contract has no such endpoint.
 */
export interface TaskRecords {
  /** How long the service may work on a request before its record appears, in milliseconds; at most 10 minutes. */
  readonly longestRequestMs: number;
  /** Must return `task` only for a task of this exact send. An exception counts as `unknown`. */
  find(sent: SentCreate): Promise<TaskRecord>;
}

/** What the paid activities need; see `createMediaActivities`. */
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
  /** Shared by all paid calls of the process. */
  readonly gate: RefusalGate;
  /** Searches the service's own records of tasks, if it has any. */
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
   * Whether an earlier try of the activity may have sent and may be alive: this is a retry, or the try after an
   * operator's reset, which resets the attempt number.
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

/** Whether the running activity may have run before: see {@link Caller.isLater}. */
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
  // A policy without a limit would retry indefinitely.
  const attempts = info.retryPolicy?.maximumAttempts || IMAGE_TIMEOUTS.maximumAttempts;
  const runId = info.workflowExecution?.runId ?? info.activityRunId ?? null;
  return {
    namespace: info.workflowNamespace ?? info.namespace,
    workflowId: info.workflowExecution?.workflowId ?? null,
    // A standalone activity has its own run id.
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
 * Without a journal, nothing keeps a second attempt from buying again, so only one is allowed (architecture: Create).
 */
export function refuseUnsafeRetries(journal: CreateJournal): void {
  if (!keepsNothing(journal)) return;
  const info = activityInfo();
  const attempts = info.retryPolicy?.maximumAttempts ?? 0;
  if (attempts !== 1 || info.attempt > 1) throw unsafeRetryPolicy(info.attempt);
}

/** A paid call before it is sent. */
export type Prepared = ReadyCall | UnreadyCall;

/** Why a call is not sent yet. */
type UnreadyCall = {
  /** See {@link ReadyCall}; null if a file cannot be read or the shape is wrong, so there is no fingerprint. */
  readonly fileHashes: ReadonlyMap<string, string> | null;
} & (
  | { readonly kind: 'invalid'; readonly issue: ValidationIssue }
  /** The model configuration is unavailable. The call waits and is not sent (architecture: Models). */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** This worker lacks something that another may have: the call waits for that worker. */
  | { readonly kind: 'missing'; readonly missing: MissingHere }
);

/** What a worker lacks, and why the call is rejected if no worker has it within the start limit. */
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
  /** Its body has signed addresses, which differ at each send: it is never sent again under one key. */
  readonly isSigned?: boolean;
}

/** Warning for a model that is not in the configuration: only the safe fields were allowed. */
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
