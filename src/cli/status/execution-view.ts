import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { lenientClient } from '../../client/lenient-client';

/** A workflow as `status` shows it. */
export interface ExecutionView {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** Temporal's status: RUNNING, COMPLETED, FAILED, CANCELLED, TERMINATED, CONTINUED_AS_NEW, TIMED_OUT … */
  readonly status: string;
  readonly taskQueue: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly historyLength: number;
  readonly pendingActivities: readonly PendingActivity[];
  /** Link into the web UI; null when none is known. */
  readonly url: string | null;
}

/** An activity that is under way or waits for its next attempt. */
export interface PendingActivity {
  readonly type: string;
  readonly attempt: number;
  readonly lastFailure: string | null;
}

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
      attempt: activity.attempt ?? 1,
      lastFailure: activity.lastFailure?.message ?? null,
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
