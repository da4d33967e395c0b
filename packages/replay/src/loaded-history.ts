import { type History } from '@temporalio/common/lib/proto-utils';

/** Why a history cannot be loaded. */
export type HistoryErrorCode =
  /** No such file, or it cannot be read. */
  | 'not_found'
  /** Larger than any history from a Temporal server. */
  | 'too_large'
  /** Events or bytes are missing. */
  | 'truncated'
  /** Not a history, or a history whose payloads were replaced by decoded values. */
  | 'not_a_history'
  /** A payload's codec is not configured here, or it rejects the payload. */
  | 'encrypted'
  /** The id is that of an activity without a workflow. Temporal keeps no history of it. */
  | 'no_history';

/** Thrown when a history cannot be loaded. The message names the file or workflow and says what to do. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';

  constructor(
    /** Why the history cannot be used. */
    readonly code: HistoryErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** Returns the id of the previous run in the chain. */
export function runBefore({ history }: Pick<LoadedRun, 'history'>): string | undefined {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return resetOf(history)?.baseRunId || started?.continuedExecutionRunId || undefined;
}

/** Reads a run's id from its history. In a reset run, the start event is copied from the run that it was reset from. */
export function ownRunId(history: History): string | undefined {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return resetOf(history)?.newRunId || started?.originalExecutionRunId || undefined;
}

/**
 * Returns the reset that began the run. It is the last one in the history, because earlier ones were copied from the
 * previous run.
 */
function resetOf({ events }: History): { baseRunId?: string | null; newRunId?: string | null } | undefined {
  const failed = events?.findLast(({ workflowTaskFailedEventAttributes }) =>
    Boolean(workflowTaskFailedEventAttributes?.newRunId),
  );
  return failed?.workflowTaskFailedEventAttributes ?? undefined;
}

/** Returns the id of the next run in the chain. */
export function runAfter({ history }: Pick<LoadedRun, 'history'>): string | undefined {
  const last = history.events?.at(-1);
  return (
    last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionCompletedEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionFailedEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionTimedOutEventAttributes?.newExecutionRunId ||
    undefined
  );
}

/** Whether the history contains the end of its run. */
export function isOver({ history }: Pick<LoadedRun, 'history'>): boolean {
  const last = history.events?.at(-1);
  return Boolean(
    last?.workflowExecutionCompletedEventAttributes ??
    last?.workflowExecutionFailedEventAttributes ??
    last?.workflowExecutionTimedOutEventAttributes ??
    last?.workflowExecutionCanceledEventAttributes ??
    last?.workflowExecutionTerminatedEventAttributes ??
    last?.workflowExecutionContinuedAsNewEventAttributes,
  );
}

type Event = NonNullable<History['events']>[number];

/**
 * A pending activity as the server describes it. The history is not enough, because it records an activity's start only
 * when the activity ends. Times are in milliseconds since 1970.
 */
export interface PendingActivity {
  /** The activity's id in its run. */
  readonly activityId: string;
  /** The current attempt's number, from 1. */
  readonly attempt: number;
  /** When a worker started this attempt; null if no worker is running it. */
  readonly startedAt: number | null;
  /** When the previous attempt ended; null for the first attempt. */
  readonly triedUntil: number | null;
  /**
   * Earliest time at which a worker can start this attempt; null if a worker is running it or the server gives no time.
   */
  readonly offeredAt: number | null;
  /** Why the previous attempt failed. */
  readonly lastFailure: NonNullable<Event['activityTaskStartedEventAttributes']>['lastFailure'];
}

/** The history of one run. */
export interface LoadedRun {
  /** The workflow's id. */
  readonly workflowId: string;
  /** The run's id; empty if a file does not contain it. */
  readonly runId: string;
  /** The workflow's type. */
  readonly workflowType: string;
  /** The source file's name, or `server`. */
  readonly source: string;
  /** Whether a codec decoded payloads in this history. */
  readonly decoded?: boolean;
  /** `temporal.api.history.v1.History`. Its payloads are decoded if a codec is configured. */
  readonly history: History;
  /** When the history was read from a server, in milliseconds since 1970; absent for a file. */
  readonly readAt?: number;
  /** The run's open activities; absent if the server was not queried. */
  readonly pending?: readonly PendingActivity[];
}

/** What one argument refers to: a workflow with all of its runs. */
export interface LoadedTarget {
  /** The argument as given. For a query or a folder, the workflow id. */
  readonly target: string;
  /** One execution chain: runs that continued as new, oldest first. */
  readonly runs: readonly LoadedRun[];
  /** Child workflows, if requested. */
  readonly children?: readonly LoadedTarget[];
  /** Watchers that polled the video, with the runs that the server still has; absent if the server was not queried. */
  readonly watchers?: readonly LoadedTarget[];
}
