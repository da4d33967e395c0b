// The worker of these workflows: a plain Temporal worker on its own queue.
import { type Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { FileArtifactStore } from 'temporal-media/activities';
import { campaignActivities } from './campaign-activities';

export interface CampaignWorkerOptions {
  readonly connection: NativeConnection;
  readonly client: Client;
  readonly taskQueue: string;
  /** MEDIA_TASK_QUEUE and MEDIA_ARTIFACTS of the media workers. */
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
