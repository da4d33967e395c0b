import { type History } from '@temporalio/common/lib/proto-utils';

/** Why a history cannot be loaded. */
export type HistoryErrorCode =
  /** No such file, or it cannot be read. */
  | 'not_found'
  /** Larger than any history of a Temporal server. */
  | 'too_large'
  /** Events or bytes are missing. */
  | 'truncated'
  /** Something else than a history, or one whose payloads were replaced by their values. */
  | 'not_a_history'
  /** A payload is encoded by a codec that is not configured here, or the codec refuses it. */
  | 'encrypted';

/** A history that cannot be loaded; the message names the file or the workflow, and what to do. */
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

/** Id of the run before this one in its chain. */
export function runBefore({ history }: Pick<LoadedRun, 'history'>): string | undefined {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return resetOf(history)?.baseRunId || started?.continuedExecutionRunId || undefined;
}

/** Id of a run by its history: a reset run has the start of the run that it was reset from. */
export function ownRunId(history: History): string | undefined {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return resetOf(history)?.newRunId || started?.originalExecutionRunId || undefined;
}

/** The reset that the run began with: the last one, because those before it are copied from the run before. */
function resetOf({ events }: History): { baseRunId?: string | null; newRunId?: string | null } | undefined {
  const failed = events?.findLast(({ workflowTaskFailedEventAttributes }) =>
    Boolean(workflowTaskFailedEventAttributes?.newRunId),
  );
  return failed?.workflowTaskFailedEventAttributes ?? undefined;
}

/** Id of the run after this one in its chain. */
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

/** Whether the history has the end of its run. */
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

/** An open activity as the server sees it: a history gets the start of an activity with its end. Milliseconds since 1970. */
export interface PendingActivity {
  /** Id of the activity in its run. */
  readonly activityId: string;
  /** From 1. */
  readonly attempt: number;
  /** When a worker began this try; null where none has it. */
  readonly startedAt: number | null;
  /** End of the try before this one; null for the first. */
  readonly triedUntil: number | null;
  /** From when on workers can have this try, where none has it; null: at once. */
  readonly offeredAt: number | null;
  /** Why the try before this one failed. */
  readonly lastFailure: NonNullable<Event['activityTaskStartedEventAttributes']>['lastFailure'];
}

/** The history of one run. */
export interface LoadedRun {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Empty where a file does not name it. */
  readonly runId: string;
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** Name of the file that it was read from, or `server`. */
  readonly source: string;
  /** Whether a codec has decoded payloads of it. */
  readonly decoded?: boolean;
  /** `temporal.api.history.v1.History`. A codec, where one is configured, has decoded its payloads. */
  readonly history: History;
  /** When it was read from a server, in milliseconds since 1970; absent for a file. */
  readonly readAt?: number;
  /** Open activities of a run that somebody has named by its id; absent where the server was not asked. */
  readonly pending?: readonly PendingActivity[];
}

/** What one argument of the command names: a workflow with all of its runs. */
export interface LoadedTarget {
  /** The argument as it was given; of a query and a folder the workflow id. */
  readonly target: string;
  /** One execution chain: runs that continued as new, oldest first. */
  readonly runs: readonly LoadedRun[];
  /** Child workflows, where they were asked for. */
  readonly children?: readonly LoadedTarget[];
  /** Watchers that polled the video, with the runs that the server still has; absent where it was not asked. */
  readonly watchers?: readonly LoadedTarget[];
}
