import { activityInfo } from '@temporalio/activity';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type Money } from '../domain/price';
import { type CreateJournal } from '../domain/journal';
import { type AskStanding } from '../domain/journal-binding';
import { type CreatePolicy, type IdempotencyPolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/paid-call';
import { type PollingProfile } from '../domain/polling-profile';
import { type ValidationIssue } from '../domain/validation-issue';
import { type ModelSource } from '../models/model-source';
import { type AccountRegistry } from './accounts';
import { unsafeRetryPolicy } from './failures';
import { type RefusalGate } from './refusal-gate';
import { type TaskRecords } from './task-records';

/** What the paid activities need; see `createMediaActivities`. */
export interface PaidDeps {
  readonly accounts: AccountRegistry;
  readonly artifacts: ArtifactStore;
  readonly models: ModelSource;
  readonly journal: CreateJournal | 'none';
  /** Whether this journal is that of the queue on which the activity runs: only then may it send, or prove "not sent". */
  readonly standing: AskStanding;
  readonly policy: CreatePolicy | undefined;
  /** One for all paid calls of the process. */
  readonly gate: RefusalGate;
  /** Looks into the service's own records of tasks, where the service has such. */
  readonly taskRecords?: TaskRecords | undefined;
  /** Folders below which `{file}` sources may be read. */
  readonly inputRoots: readonly string[];
}

/** Who asks, out of the activity's own context. */
export interface Caller {
  readonly namespace: string;
  readonly workflowId: string | null;
  readonly runId: string | null;
  readonly activityId: string;
  readonly attempt: number;
  /** When the server scheduled this attempt, ISO 8601. */
  readonly attemptAt: string;
  readonly isLastAttempt: boolean;
  readonly startToCloseMs: number;
  readonly scheduleToCloseMs: number;
  readonly startedAt: number;
}

export function caller(now: number): Caller {
  const info = activityInfo();
  const attempts = info.retryPolicy?.maximumAttempts ?? 0;
  return {
    namespace: info.workflowNamespace ?? info.namespace,
    workflowId: info.workflowExecution?.workflowId ?? null,
    // One that no workflow scheduled has a run of its own.
    runId: info.workflowExecution?.runId ?? info.activityRunId ?? null,
    activityId: info.activityId,
    attempt: info.attempt,
    attemptAt: new Date(info.currentAttemptScheduledTimestampMs).toISOString(),
    isLastAttempt: attempts > 0 && info.attempt >= attempts,
    startToCloseMs: info.startToCloseTimeoutMs,
    scheduleToCloseMs: info.scheduleToCloseTimeoutMs,
    startedAt: now,
  };
}

/** Without a journal nothing stops a second attempt from buying again, so none may be allowed (architecture: Create). */
export function refuseUnsafeRetries(journal: CreateJournal | 'none'): void {
  if (journal !== 'none') return;
  const info = activityInfo();
  const attempts = info.retryPolicy?.maximumAttempts ?? 0;
  if (attempts !== 1 || info.attempt > 1) throw unsafeRetryPolicy(info.attempt);
}

/** A paid call before its send. `fileHashes` names every `{file}` that could be read, for the fingerprint. */
export type Prepared<Body> =
  | ReadyCall<Body>
  | {
      readonly kind: 'invalid';
      readonly issue: ValidationIssue;
      readonly fileHashes: ReadonlyMap<string, string>;
    }
  /** The model configuration is down: the call waits unsent (architecture: Models). */
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly fileHashes: ReadonlyMap<string, string>;
    }
  /** This worker lacks what another may have: the call waits for that one. */
  | {
      readonly kind: 'missing';
      readonly missing: MissingHere;
      readonly fileHashes: ReadonlyMap<string, string>;
    }
  /** The shape is wrong or a file cannot be read, so that not even a fingerprint can be made. */
  | { readonly kind: 'unreadable'; readonly issue: ValidationIssue };

/** What a worker lacks, and what the call is rejected for once no worker has had it within the start limit. */
export interface MissingHere {
  /** Public word. */
  readonly cause: 'account_not_configured' | 'no_key' | 'artifact_missing';
  readonly reason: RejectReason;
  readonly message: string;
  readonly field?: string;
}

export interface ReadyCall<Body> {
  readonly kind: 'ready';
  readonly body: Body;
  readonly estimate: Money | null;
  readonly polling?: PollingProfile | undefined;
  /** Milliseconds for the whole exchange. */
  readonly budgetMs: number;
  /** What the configuration of the model vouches for, above the policy of the worker. */
  readonly idempotency?: IdempotencyPolicy | undefined;
  readonly warnings: readonly string[];
  readonly fileHashes: ReadonlyMap<string, string>;
}

/** Said when the model is in no configuration: the call passed with the safe fields only. */
export const NOT_VALIDATED = 'The model is not in the configuration: its values were not validated.';

/** The body could not be made although no field was named. */
export const UNSENDABLE: ValidationIssue = {
  field: 'request',
  message: 'The request cannot be put into a body.',
};

/** What the configuration says about the model, above the worker's policy and below the caller's. */
export function preferred(prepared: Prepared<{ readonly bodyHash: string }>): CreatePolicy | undefined {
  return prepared.kind === 'ready' && prepared.idempotency !== undefined
    ? { idempotency: prepared.idempotency }
    : undefined;
}
