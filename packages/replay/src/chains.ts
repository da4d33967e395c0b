import { type History } from '@temporalio/common/lib/proto-utils';
import { type LoadedRun } from './loaded-history';

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
