import { randomUUID } from 'node:crypto';
import { type WorkflowHandle } from '@temporalio/client';
import { type TestServer } from './temporal';

/** Resets the newest run to its first workflow task: everything after it happens again. The handle is the new run's. */
export async function resetWorkflow(server: TestServer, workflowId: string): Promise<WorkflowHandle> {
  const { client, namespace } = server;
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null)?.eventId;
  const again = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: first ?? null,
    reason: 'run it again',
    requestId: randomUUID(),
  });
  return client.workflow.getHandle(workflowId, again.runId);
}
