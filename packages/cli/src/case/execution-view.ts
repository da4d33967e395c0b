import { type Client, type WorkflowExecutionDescription } from '@temporalio/client';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { type ExecutionView, type OpenActivity } from 'temporal-media/internal/domain/case';
import { ACTIVITY, RETRY_LATER } from 'temporal-media/internal/domain/names';
import { lenientClient } from 'temporal-media/internal/client/lenient-client';
import { readPayloads } from 'temporal-media/internal/client/read-payloads';
import { describeWorkflow } from 'temporal-media/internal/client/started';

/** The newest run of a workflow id; undefined when the server has none. */
export async function viewExecution(
  client: Client,
  workflowId: string,
  url: (workflowId: string) => string | undefined,
): Promise<ExecutionView | undefined> {
  const description = await describeWorkflow(lenientClient(client), workflowId);
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
    pendingActivities: await Promise.all((raw.pendingActivities ?? []).map((one) => pendingOf(client, one))),
    url: url(workflowId) ?? null,
  };
}

const OURS: ReadonlySet<string> = new Set(Object.values(ACTIVITY));

type Pending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

async function pendingOf(client: Client, activity: Pending): Promise<OpenActivity> {
  const { activityType, activityId, attempt, lastFailure, paused } = activity;
  const type = activityType?.name ?? 'unknown';
  const failure = lastFailure?.applicationFailureInfo;
  const facts = { type, activityId: activityId ?? '', paused: paused === true };
  // A video that is watched by another workflow waits by failing: that is no failure.
  if (type === ACTIVITY.watchVideo && failure?.type === RETRY_LATER)
    return { ...facts, attempt: 1, lastFailure: null, failureClass: null };
  const tried = { ...facts, attempt: attempt ?? 1 };
  // What an activity of the user's own says may repeat a prompt.
  if (!OURS.has(type)) return { ...tried, lastFailure: failure?.type ?? null, failureClass: null };
  const { loadedDataConverter } = client.options;
  const details = await readPayloads(loadedDataConverter, failure?.details?.payloads ?? []).catch(
    otherwise([]),
  );
  const { class: word } = (details[0]?.value ?? {}) as { readonly class?: unknown };
  const failureClass = typeof word === 'string' ? word : (failure?.type ?? null);
  return { ...tried, lastFailure: lastFailure?.message ?? null, failureClass };
}
