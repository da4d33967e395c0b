import { type WorkflowHandle } from '@temporalio/client';

/** The Markdown that the details panel of the UI shows for a workflow. */
export async function workflowDetails(handle: WorkflowHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ readonly currentDetails?: string }>(
    '__temporal_workflow_metadata',
  );
  return currentDetails ?? '';
}
