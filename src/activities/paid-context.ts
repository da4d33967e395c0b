import { activityInfo } from '@temporalio/activity';
import { type CreateJournal } from '../domain/create-journal';
import { type CreatePolicy } from '../domain/create-policy';
import { type AskStanding } from '../domain/journal-binding';
import { type ArtifactStore } from '../artifacts/artifact-store';
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
