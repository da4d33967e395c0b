import { type Client } from '@temporalio/client';
import { situation } from '../../domain/advice';
import { lenientClient } from '../lenient-client';
import { isSameVersion, STALE_POLL_MS, versionText, viewQueue, type WorkerVersion } from '../queue-view';
import { shellWord } from '../shell-word';

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
