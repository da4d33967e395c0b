import { type WorkflowHandle } from '@temporalio/client';
import { eventually } from './eventually';

/** How a worker answered the first workflow task of a run. */
export interface FirstTask {
  /** Why the task failed; null where it was completed. */
  readonly fault: string | null;
  /** `waits`: the workflow continues. */
  readonly state: 'completed' | 'failed' | 'waits';
  /** Of a workflow that has failed. */
  readonly failure: { readonly type: string; readonly message: string } | null;
}

/** Waits until a worker has completed the first workflow task of a run, or has failed it. */
export async function firstTask(handle: WorkflowHandle): Promise<FirstTask> {
  return eventually(`the first workflow task of ${handle.workflowId}`, async () => {
    const events = (await handle.fetchHistory()).events ?? [];
    for (const event of events) {
      const fault = event.workflowTaskFailedEventAttributes;
      if (fault != null) return { fault: faultOf(fault), state: 'waits', failure: null } as const;
      if (event.workflowTaskTimedOutEventAttributes != null)
        return { fault: 'It timed out.', state: 'waits', failure: null } as const;
    }
    if (!events.some((event) => event.workflowTaskCompletedEventAttributes != null)) return undefined;
    const last = events.at(-1);
    const failed = last?.workflowExecutionFailedEventAttributes?.failure;
    if (failed != null) {
      const { applicationFailureInfo: info, message } = failed;
      return {
        fault: null,
        state: 'failed',
        failure: { type: info?.type ?? '', message: message ?? '' },
      } as const;
    }
    const isCompleted = last?.workflowExecutionCompletedEventAttributes != null;
    return { fault: null, state: isCompleted ? 'completed' : 'waits', failure: null } as const;
  });
}

function faultOf(failed: { readonly failure?: { readonly message?: string | null } | null }): string {
  return failed.failure?.message ?? 'unknown';
}
