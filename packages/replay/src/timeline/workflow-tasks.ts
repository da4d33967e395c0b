import { type History } from '@temporalio/common/lib/proto-utils';

type Event = NonNullable<History['events']>[number];

/** A workflow task, from when it was scheduled until it ended. Times are in milliseconds since 1970. */
export interface WorkflowTask {
  readonly at: number;
  /** Null if no worker started it. */
  startedAt: number | null;
  endedAt: number | null;
  /** `reset`: a reset ended the task's run. */
  end: 'open' | 'completed' | 'failed' | 'reset';
}

/** Reads one run's workflow tasks. */
export class TaskReader {
  readonly tasks: WorkflowTask[] = [];

  /** Returns whether the event belongs to a workflow task. @param at the event's time, in milliseconds since 1970 */
  read(event: Event, at: number): boolean {
    if (event.workflowTaskScheduledEventAttributes) {
      this.tasks.push({ at, startedAt: null, endedAt: null, end: 'open' });
      return true;
    }
    const failed = event.workflowTaskFailedEventAttributes;
    const change: Partial<WorkflowTask> | undefined = event.workflowTaskStartedEventAttributes
      ? { startedAt: at }
      : event.workflowTaskCompletedEventAttributes
        ? { endedAt: at, end: 'completed' }
        : failed
          ? { endedAt: at, end: failed.newRunId ? 'reset' : 'failed' }
          : event.workflowTaskTimedOutEventAttributes
            ? { endedAt: at, end: 'failed' }
            : undefined;
    if (change === undefined) return false;
    const task = this.tasks.at(-1);
    if (task !== undefined) Object.assign(task, change);
    return true;
  }
}
