import { randomUUID } from 'node:crypto';
import { type WorkflowHandle } from '@temporalio/client';
import { type TestServer } from './temporal';

/**
 * Resets the newest run to a workflow task: everything after it happens again. The handle is the new run's.
 * @param place share of its workflow tasks that are kept; the first one unless given
 */
export async function resetWorkflow(
  server: TestServer,
  workflowId: string,
  place = 0,
): Promise<WorkflowHandle> {
  const { client, namespace } = server;
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes != null);
  const at = tasks[Math.floor(place * (tasks.length - 1))]?.eventId;
  const again = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: at ?? null,
    reason: 'run it again',
    requestId: randomUUID(),
  });
  return client.workflow.getHandle(workflowId, again.runId);
}
