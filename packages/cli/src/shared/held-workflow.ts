import { type Client } from '@temporalio/client';
import { lenientClient } from 'temporal-media/internal/client/read-payloads';
import { situation } from 'temporal-media/internal/domain/advice';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { isMediaWorkflow } from 'temporal-media/internal/domain/names';
import { shellWord } from 'temporal-media/internal/domain/terminal-text';
import { type ExecutionView } from './case';
import { isSameVersion, STALE_POLL_MS, versionText, viewQueue, type WorkerVersion } from './execution-state';

/** Explains why an open workflow makes no progress: its code fails, or no worker has the version it is pinned to. */
export async function whyHeld(
  client: Client,
  { workflowId, type }: Pick<ExecutionView, 'workflowId' | 'type'>,
): Promise<string | null> {
  const [pinned, failing] = await Promise.all([
    pinnedWithoutWorker(client, workflowId).catch(otherwise(undefined)),
    failingTask(client, workflowId, isMediaWorkflow(type)).catch(otherwise(undefined)),
  ]);
  if (pinned !== undefined) return pinned;
  if (failing === undefined) return null;
  const { why, resetTo } = failing;
  const values = { ID: workflowId, WHY: why.replace(/\.$/, ''), NUMBER: resetTo };
  return situation(resetTo === null ? 'code_fails' : 'pause_unreadable', values, shellWord).text;
}

/** Maximum number of events to search, newest first. A failed task's event is the last one in its history. */
const NEWEST_EVENTS = 5;
/** The SDK's error message. */
const NO_SUCH_WORKFLOW = /no such function is exported by the workflow bundle/;

/** The SDK's error message for a task that the server failed because of a pause, before any worker had started it. */
const UNREADABLE_PAUSE =
  /WorkflowTaskMachine in state Scheduled .*event_id: (\d+), event_type: WorkflowTaskFailed/;

interface FailingTask {
  readonly why: string;
  /** The event to which a reset removes an unreadable pause; null if something else is the cause. */
  readonly resetTo: string | null;
}

/**
 * Explains why a running workflow's code keeps failing. The server retries such a task indefinitely without notifying
 * anyone. Undefined if the code does not fail. If the worker lacks the workflow, explains how to add it.
 */
export async function failingTask(
  client: Client,
  workflowId: string,
  isOurs = true,
): Promise<FailingTask | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId };
  const { pendingWorkflowTask } = await client.workflowService.describeWorkflowExecution({
    namespace,
    execution,
  });
  const attempt = pendingWorkflowTask?.attempt ?? 1;
  if (attempt < 2) return undefined;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution,
    maximumPageSize: NEWEST_EVENTS,
  });
  const failed = history?.events?.find(({ workflowTaskFailedEventAttributes: failure }) => failure != null);
  const message = failed?.workflowTaskFailedEventAttributes?.failure?.message;
  if (message == null) return undefined;
  const remedy = NO_SUCH_WORKFLOW.test(message)
    ? ' A worker on this task queue lacks the temporal-media workflows. Add a MediaPlugin to it, or export temporal-media/workflows from its workflows file.'
    : '';
  // Text from the user's own code may repeat a prompt.
  const said = isOurs || remedy !== '' ? message : "for the reason, see the history and the worker's log";
  return {
    why: `attempt ${attempt} of the workflow's code failed: ${said}.${remedy}`,
    resetTo: UNREADABLE_PAUSE.exec(message)?.[1] ?? null,
  };
}

/** `VERSIONING_BEHAVIOR_PINNED` of the Temporal API. */
const PINNED = 1;
const CALL_MS = 3_000;

/**
 * Reports a workflow that is pinned to a version without polling workers. Such a workflow makes no progress, even if
 * other workers poll its queue. Undefined for any other workflow, or if the server does not report versions.
 */
async function pinnedWithoutWorker(client: Client, workflowId: string): Promise<string | undefined> {
  const { raw, taskQueue } = await lenientClient(client).getHandle(workflowId).describe();
  const { behavior, deploymentVersion, versioningOverride } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  const pinned =
    versioningOverride?.pinned?.version ?? (Number(behavior) === PINNED ? deploymentVersion : null);
  if (!pinned?.buildId) return undefined;
  const version = { deploymentName: pinned.deploymentName ?? '', buildId: pinned.buildId };
  const { namespace } = client.options;
  const view = await viewQueue(client.connection, namespace, taskQueue, 'workflows', CALL_MS);
  const polled = view.pollers.some(
    (poller) => isSameVersion(poller.version, version) && Date.now() - poller.at <= STALE_POLL_MS,
  );
  return polled ? undefined : pinnedText(workflowId, taskQueue, version);
}

export function pinnedText(workflowId: string, taskQueue: string, version: WorkerVersion): string {
  const values = { ID: workflowId, QUEUE: taskQueue, VERSION: versionText(version) };
  return situation('pinned', values, shellWord).text;
}
