import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';

/** A started or attached workflow. */
export interface Started<Outcome> {
  /** Its id, from which any process can resume. */
  readonly workflowId: string;
  /** The run that was started or found; empty where the newest one is meant. */
  readonly runId: string;
  /** False when a workflow with this id already existed. */
  readonly isNew: boolean;
  /** Waits for the outcome. @throws WorkflowFailedError when the workflow failed, was terminated or timed out */
  result(): Promise<Outcome>;
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

/** A handle of an existing workflow: of its newest run unless `runId` is given. */
export function attach<Outcome>(client: Client, workflowId: string, runId?: string): Started<Outcome> {
  return started(client.workflow.getHandle(workflowId, runId), runId ?? '', false);
}

/** Undefined when the server has no workflow with this id. */
export async function describeWorkflow(
  workflows: Client['workflow'],
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await workflows.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
