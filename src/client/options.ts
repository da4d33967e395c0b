import { type WorkflowStartOptions } from '@temporalio/client';
import { type ShapeOf } from '../domain/shape';

/** Options of `TemporalMediaClient`. */
export interface TemporalMediaClientOptions {
  /** Task queue of the media worker. @default 'temporal-media' */
  readonly taskQueue?: string;
  /**
   * Starts workflows with search attributes: outcome, model, account, task and campaign can then be searched for. The
   * namespace must have them (`temporal-media setup`). @default false
   */
  readonly searchAttributes?: boolean;
}

/** Options of a start. Those of Temporal are passed on; `memo` and search attributes beside those of this package. */
export interface StartOptions extends Pick<
  WorkflowStartOptions,
  | 'memo'
  | 'typedSearchAttributes'
  | 'priority'
  | 'workflowExecutionTimeout'
  | 'workflowTaskTimeout'
  | 'staticSummary'
  | 'staticDetails'
> {
  /**
   * Workflow id and creation key at once: the same id with the same request attaches or returns the first result,
   * and never buys twice. @default a generated id
   */
  readonly id?: string;
}

/** Options of `TemporalMediaClient.watch`. */
export interface WatchOptions {
  /** Milliseconds between two queries. @default 1500 */
  readonly intervalMs?: number;
  /** Ends the watch. The workflow goes on. */
  readonly signal?: AbortSignal;
}

/** Options of `TemporalMediaClient.findTask`. */
export interface FindTaskOptions {
  /** @default false */
  readonly askService?: boolean;
  /** Timeout in milliseconds. @default 120000 */
  readonly timeoutMs?: number;
}

/** Options of `TemporalMediaClient.artifactStore`. */
export interface ArtifactStoreOptions {
  /** Timeout in milliseconds. @default 120000 */
  readonly timeoutMs?: number;
}

export const CLIENT_KEYS = {
  taskQueue: true,
  searchAttributes: true,
} satisfies ShapeOf<TemporalMediaClientOptions>;
export const START_KEYS = {
  id: true,
  memo: true,
  typedSearchAttributes: true,
  priority: true,
  workflowExecutionTimeout: true,
  workflowTaskTimeout: true,
  staticSummary: true,
  staticDetails: true,
} satisfies ShapeOf<StartOptions>;
export const WATCH_KEYS = { intervalMs: true, signal: true } satisfies ShapeOf<WatchOptions>;
export const ARTIFACT_STORE_KEYS = { timeoutMs: true } satisfies ShapeOf<ArtifactStoreOptions>;
export const FIND_TASK_KEYS = { askService: true, timeoutMs: true } satisfies ShapeOf<FindTaskOptions>;
