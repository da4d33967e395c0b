// A worker, the only process that needs the API key. Reads MEDIA_* and TEMPORAL_*.
import { createMediaWorker } from 'temporal-media/worker';

export async function startWorker(env: NodeJS.ProcessEnv = process.env) {
  const media = await createMediaWorker({
    env,
    workflows: { workflowsPath: require.resolve('./workflows') },
  });
  console.error(`Polling ${media.taskQueue} as ${media.account}`);
  return media;
}

if (require.main === module) {
  void startWorker().then((media) => {
    process.once('SIGTERM', () => media.shutdown());
    return media.run();
  });
}
