import { type WorkflowHandle } from '@temporalio/client';
import { type Started } from './options';

/** A workflow to wait for. A campaign continues as new, and its result is that of the last run. */
export function started<Outcome>(handle: WorkflowHandle, runId: string, isNew: boolean): Started<Outcome> {
  return {
    workflowId: handle.workflowId,
    runId,
    isNew,
    result: () => handle.result() as Promise<Outcome>,
  };
}
