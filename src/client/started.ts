import { createHash } from 'node:crypto';
import { type WorkflowHandle } from '@temporalio/client';
import { type KeysOf } from '../domain/known-keys';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type VideoTask } from '../domain/video-task';

/**
 * Whether a closed workflow with this outcome may be started again under its id: it left no purchase behind, or the
 * journal decides. `if_decided`: only after a person has decided about the call.
 * @param again whether to send a refused request again
 */
export function startAgain(
  outcome: VideoOutcome | ImageOutcome,
  again: boolean,
): 'yes' | 'no' | 'if_decided' {
  switch (outcome.outcome) {
    // An existing task is adopted from the journal and not bought again.
    case 'still_running':
    case 'cancelled':
      return 'yes';
    case 'unconfirmed':
      // The journal may have the outcome by now; a worker sends only where the journal proves that nothing was sent.
      // For other causes a worker without a journal would send again without knowing of a decision.
      return JOURNAL_MAY_KNOW.has(outcome.evidence.cause) ? 'yes' : 'if_decided';
    case 'results_lost':
      // The call is paid; fetching its results again buys nothing.
      return outcome.fetchable ? 'yes' : 'if_decided';
    case 'rejected':
      return !again && (outcome.reason === 'invalid_request' || outcome.reason === 'moderation')
        ? 'no'
        : 'yes';
    default:
      return 'no';
  }
}

/** Whether a closed workflow was refused: the journal then allows the corrected request or gives a reason not to. */
export function wasRefused(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason !== 'declared_lost';
}

/** Causes of `unconfirmed` for which the journal may hold an outcome: a worker was away or died. */
const JOURNAL_MAY_KNOW: ReadonlySet<string> = new Set([
  'worker_lost',
  'activity_failed',
  'no_answer_in_time',
  'reconcile_failed',
  'no_outcome_recorded',
  // Within the key's window another send finds the outcome, once the cause of the refusal is fixed.
  'same_key_refused',
]);

/** The task of an outcome after which waiting or fetching can continue. */
export function unfinishedVideo(outcome: VideoOutcome): VideoTask | null {
  switch (outcome.outcome) {
    case 'still_running':
    case 'content_unavailable':
    case 'task_unknown':
    case 'cancelled':
      return outcome.video;
    default:
      return null;
  }
}

/** Wraps a workflow handle. A campaign continues as new; its result is that of the last run. */
export function started<Outcome>(handle: WorkflowHandle, runId: string, isNew: boolean): Started<Outcome> {
  return {
    workflowId: handle.workflowId,
    runId,
    isNew,
    result: () => handle.result() as Promise<Outcome>,
  };
}

/** Workflow id of the one wait for a task: derived from account and task id, never the raw id (architecture: Wait). */
export function awaitVideoWorkflowId(account: string, taskId: string): string {
  return `await-video/${account}/${createHash('sha256').update(taskId).digest('hex').slice(0, 32)}`;
}

export interface TemporalMediaClientOptions {
  /** Task queue of the media worker. @default 'temporal-media' */
  readonly taskQueue?: string;
}

export interface StartOptions {
  /**
   * Workflow id and creation key at once: the same id with the same request attaches or returns the first result,
   * and never buys twice. @default a generated id
   */
  readonly id?: string;
}

export interface WatchOptions {
  /** Milliseconds between two queries. @default 1500 */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
}

export interface FindTaskOptions {
  /** @default false */
  readonly askService?: boolean;
  /** Timeout in milliseconds. @default 120000 */
  readonly timeoutMs?: number;
}

export interface ArtifactStoreOptions {
  /** Timeout in milliseconds. @default 120000 */
  readonly timeoutMs?: number;
}

/** A started or attached workflow. */
export interface Started<Outcome> {
  readonly workflowId: string;
  readonly runId: string;
  /** False when a workflow with this id already existed. */
  readonly isNew: boolean;
  result(): Promise<Outcome>;
}

export const CLIENT_KEYS = { taskQueue: true } satisfies KeysOf<TemporalMediaClientOptions>;
export const START_KEYS = { id: true } satisfies KeysOf<StartOptions>;
export const WATCH_KEYS = { intervalMs: true, signal: true } satisfies KeysOf<WatchOptions>;
export const ARTIFACT_STORE_KEYS = { timeoutMs: true } satisfies KeysOf<ArtifactStoreOptions>;
export const FIND_TASK_KEYS = { askService: true, timeoutMs: true } satisfies KeysOf<FindTaskOptions>;
