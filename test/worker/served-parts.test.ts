import { TemporalMediaClient } from '../../src/client';
import { activityQueues } from '../../src/domain/names';
import { readConfig } from '../../src/settings/config';
import { createMediaWorker, type MediaWorkerOptions, type ServedPart } from '../../src/worker';
import { bundledWorkflows } from '../../src/workflow-bundle';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';
import { testBundle } from '../support/test-bundle';
import { type premiere } from './users/workflows';

describe('workers that serve some of the parts', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, async () => undefined);

  async function serving(taskQueue: string, serve: readonly ServedPart[], options: MediaWorkerOptions = {}) {
    const { server, env } = await stack();
    const { MEDIA_BASE_URL, MEDIA_API_KEY, ...rest } = env;
    // Workflows need neither the service nor a folder that can be written.
    const needs = serve.some((part) => part !== 'workflows')
      ? { MEDIA_BASE_URL, MEDIA_API_KEY }
      : { MEDIA_DATA_DIR: '/dev/null' };
    const media = await createMediaWorker({
      connection: server.nativeConnection,
      namespace: server.namespace,
      config: readConfig({
        ...rest,
        ...needs,
        MEDIA_TASK_QUEUE: taskQueue,
        MEDIA_SERVE: serve.join(','),
      }),
      workflows: { workflowBundle: await testBundle() },
      worker: { shutdownGraceTime: '2 seconds' },
      ...options,
    });
    const ended = media.run();
    return {
      media,
      stop: async () => {
        media.shutdown();
        await ended;
      },
    };
  }

  it('share a queue: pools of workflows, of creates and images, of polls and downloads make a video together', async () => {
    const made = await stack();
    const taskQueue = made.server.uniqueId('pools');
    const { create, image, poll, download } = activityQueues(taskQueue);
    const pools = [
      await serving(taskQueue, ['workflows']),
      await serving(taskQueue, ['create', 'image']),
      await serving(taskQueue, ['poll']),
      await serving(taskQueue, ['download']),
    ];
    expect(pools.map(({ media }) => media.queues)).toEqual([
      [taskQueue],
      [taskQueue, create, image],
      [poll],
      [download],
    ]);
    expect(pools.map(({ media }) => media.account === '')).toEqual([true, false, false, false]);
    const client = new TemporalMediaClient(made.server.client, { taskQueue });
    const video = await client.startVideo({
      request: { model: 'cine-1', prompt: 'a kite of pools', durationSeconds: 2 },
    });
    expect(await video.result()).toMatchObject({ outcome: 'completed' });
    // Looked up on the queue itself, which the pool of creates serves for activities.
    expect((await client.artifactStore()).storeId).not.toBeNull();
    expect(await accepted(made, 'a kite of pools')).toBe(1);
    await Promise.all(pools.map(({ stop }) => stop()));
  });

  it("createMediaWorker serves the user's activities beside ours", async () => {
    const { server } = await stack();
    const taskQueue = server.uniqueId('beside');
    const workflows = await bundledWorkflows({
      workflowsPath: require.resolve('./users/exporting-workflows'),
    });
    const { stop } = await serving(taskQueue, ['workflows', 'create', 'poll', 'download', 'image'], {
      workflows,
      activities: { sizeOf: async ({ bytes }: { bytes: number }) => bytes },
      worker: { sinks: { log: { premiere: { fn: () => undefined } } } },
    });
    const film = await server.client.workflow.execute<typeof premiere>('premiere', {
      taskQueue,
      workflowId: taskQueue,
      args: ['a kite beside'],
    });
    expect(film).toMatchObject({ film: { outcome: 'completed', artifact: { bytes: film.bytes } } });
    await stop();
  });
});
