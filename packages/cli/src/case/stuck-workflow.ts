import { type Client } from '@temporalio/client';
import { situation } from 'temporal-media/internal/domain/advice';
import { lenientClient } from 'temporal-media/internal/client/lenient-client';
import { shellWord } from 'temporal-media/internal/client/shell-word';
import { isSameVersion, STALE_POLL_MS, versionText, viewQueue, type WorkerVersion } from '../queue-view';

/** Events that are looked through, the newest first: the failure of a task is the last thing in its history. */
const LOOKED_AT = 5;
/** As the SDK says it. */
const NO_SUCH_WORKFLOW = /no such function is exported by the workflow bundle/;

/**
 * Why the code of a running workflow fails again and again: its task is retried for ever, and nobody is told. Undefined
 * where it does not fail. Where the worker lacks the workflow, says how it gets it.
 */
export async function failingTask(
  client: Client,
  workflowId: string,
  isOurs = true,
): Promise<string | undefined> {
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
    maximumPageSize: LOOKED_AT,
  });
  const failed = history?.events?.find(({ workflowTaskFailedEventAttributes: failure }) => failure != null);
  const message = failed?.workflowTaskFailedEventAttributes?.failure?.message;
  if (message == null) return undefined;
  const remedy = NO_SUCH_WORKFLOW.test(message)
    ? ' A worker of this task queue lacks the workflows of temporal-media: add a MediaPlugin to it, or export temporal-media/workflows from its workflows file.'
    : '';
  // What code of the user's own says may repeat a prompt.
  const said = isOurs || remedy !== '' ? message : 'see the history and the log of its worker for the reason';
  return `attempt ${attempt} of the workflow's code, which fails: ${said}.${remedy}`;
}

/** `VERSIONING_BEHAVIOR_PINNED` of the Temporal API. */
const PINNED = 1;
const CALL_MS = 3_000;

/**
 * Reports that a workflow is pinned to a version of which no worker polls: it does not proceed, even when other workers
 * serve its queue. Undefined otherwise, or when the server does not say.
 */
export async function pinnedWithoutWorker(client: Client, workflowId: string): Promise<string | undefined> {
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
