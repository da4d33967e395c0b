import { Worker } from '@temporalio/worker';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

describe('an image call whose worker is lost', () => {
  const stack = sharedStack({});

  it('[C4.4c] stays unconfirmed when no worker takes the next attempt: the first one may have been sent', async () => {
    const { server, taskQueue } = await stack();
    const image = server.uniqueId('lost-image');
    const release = deferred<never>();
    const taken = deferred<void>();
    const worker = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue: image,
      // It takes no new work from the shutdown on, and the call that it has stays silent until the test is over.
      shutdownGraceTime: '5 minutes',
      activities: {
        [ACTIVITY.generateImage]: () => {
          taken.resolve();
          return release.promise;
        },
      },
    });
    const running = worker.run();
    const handle = await server.client.workflow.start(WORKFLOW.generateImage, {
      taskQueue,
      workflowId: server.uniqueId('lost-image'),
      args: [{ request: { model: 'image-2', prompt: 'posted' }, queues: { image }, startLimit: '3s' }],
    });
    try {
      await taken.promise;
      worker.shutdown();
      await eventually('the drain', async () => worker.getState() !== 'RUNNING');
      expect(await handle.result()).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { cause: 'worker_lost', model: 'image-2' },
        billing: { state: 'needs_review' },
      });
    } finally {
      release.reject(new Error('the test is over'));
      await running;
    }
  });
});
