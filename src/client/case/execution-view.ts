import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { type ExecutionView } from '../../domain/case';
import { lenientClient } from '../lenient-client';

/** The newest run of a workflow id; undefined when the server has none. */
export async function viewExecution(
  client: Client,
  workflowId: string,
  url: (workflowId: string) => string | undefined,
): Promise<ExecutionView | undefined> {
  const description = await describe(client, workflowId);
  if (description === undefined) return undefined;
  const { runId, type, status, taskQueue, startTime, closeTime, historyLength, raw } = description;
  return {
    workflowId,
    runId,
    type,
    status: status.name,
    taskQueue,
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
    historyLength,
    pendingActivities: (raw.pendingActivities ?? []).map((activity) => ({
      type: activity.activityType?.name ?? 'unknown',
      activityId: activity.activityId ?? '',
      attempt: activity.attempt ?? 1,
      lastFailure: activity.lastFailure?.message ?? null,
      paused: activity.paused === true,
    })),
    url: url(workflowId) ?? null,
  };
}

async function describe(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await lenientClient(client).getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
