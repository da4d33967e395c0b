// worker.ts: your worker, with the plugin, which reads MEDIA_* when the worker is created.
import { bundleWorkflowCode, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { MediaPlugin } from 'temporal-media/plugin';
import { openArtifactStore } from 'temporal-media/stores';
import { filmActivities } from './activities';

const workflowsPath = require.resolve('./workflows');

export async function filmWorker(options: Partial<WorkerOptions> = {}, env = process.env) {
  const activities = filmActivities(await openArtifactStore(env));
  const plugins = [new MediaPlugin({ env })];
  const address = env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233';
  const connection = options.connection ?? (await NativeConnection.connect({ address }));
  const taskQueue = env.MEDIA_TASK_QUEUE ?? 'films';
  return Worker.create({ taskQueue, workflowsPath, activities, plugins, ...options, connection });
}

/** Bundles the workflows at build time. Pass the result as `workflowBundle` instead of `workflowsPath`. */
export const filmBundle = () => bundleWorkflowCode({ workflowsPath, plugins: [new MediaPlugin()] });
