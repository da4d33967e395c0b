import { join } from 'node:path';
import {
  accountName,
  accountRegistry,
  createFileJournal,
  createMediaActivities,
  createMediaClient,
  createModelSource,
  FileArtifactStore,
  normaliseBaseUrl,
  type MediaActivityDeps,
} from '../../src/activities';
import { type MediaActivities } from '../../src/domain/activities';
import { createWorkers, type MediaWorkers } from '../../src/worker';
import { SANDBOX_KEY, type MediaStack } from './media-stack';
import { testBundle } from './test-bundle';

/** A worker put together by hand, on a queue and a journal of its own unless others are named; with the package's workflows. */
export async function handMadeWorker(
  stack: MediaStack,
  deps: Partial<MediaActivityDeps> = {},
  replace: (activities: MediaActivities) => Partial<MediaActivities> = () => ({}),
  taskQueue = stack.server.uniqueId('hand-made'),
  workflowsPath = '',
): Promise<MediaWorkers & { readonly taskQueue: string }> {
  const baseUrl = normaliseBaseUrl(stack.sandbox.url);
  const { allowedMediaOrigins } = stack.config;
  const client = createMediaClient({ baseUrl, apiKey: () => SANDBOX_KEY, allowedMediaOrigins });
  const name = accountName('default', baseUrl);
  const activities = createMediaActivities({
    accounts: accountRegistry([{ name, client, hasKey: async () => true }]),
    artifacts: new FileArtifactStore(stack.config.artifacts),
    journal: createFileJournal({ root: join(stack.dataDir, taskQueue) }),
    models: createModelSource({ location: stack.sandbox.modelsUrl }),
    ...deps,
  });
  const workers = await createWorkers({
    connection: stack.server.nativeConnection,
    namespace: stack.server.namespace,
    taskQueue,
    workflowBundle: await testBundle(workflowsPath),
    activities: { ...activities, ...replace(activities) },
  });
  return { ...workers, taskQueue };
}
