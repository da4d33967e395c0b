// The worker for these workflows: a plain Temporal worker with its own task queue.
import { type Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { FileArtifactStore } from 'temporal-media/activities';
import { campaignActivities } from './campaign-activities';

export interface CampaignWorkerOptions {
  readonly connection: NativeConnection;
  readonly client: Client;
  readonly taskQueue: string;
  /** The media workers' MEDIA_TASK_QUEUE; `artifacts` is their MEDIA_ARTIFACTS. */
  readonly mediaQueue: string;
  readonly artifacts: string;
}

export function campaignWorker({ client, ...options }: CampaignWorkerOptions): Promise<Worker> {
  const store = new FileArtifactStore(options.artifacts);
  return Worker.create({
    connection: options.connection,
    namespace: client.options.namespace,
    taskQueue: options.taskQueue,
    workflowsPath: require.resolve('./campaigns'),
    activities: campaignActivities(client, store, options.mediaQueue),
  });
}
