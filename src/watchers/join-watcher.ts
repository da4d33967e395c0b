import { type Client } from '@temporalio/client';
import { SIGNAL, WORKFLOW } from '../domain/names';
import { type JoinedWatch, type WatcherFacts } from '../domain/shared-watch';

/** Joins videos to their watcher, and starts it where it does not run. Joining twice is the same as once. */
export async function joinWatcher(
  client: Client,
  { workflowId, taskQueue, input }: WatcherFacts,
  joins: readonly JoinedWatch[],
): Promise<void> {
  await client.workflow.signalWithStart(WORKFLOW.watchVideos, {
    workflowId,
    taskQueue,
    args: [input],
    signal: SIGNAL.watchJoin,
    signalArgs: [joins],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: 'Polls the tasks of many videos',
  });
}
