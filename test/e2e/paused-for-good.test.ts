import { Worker } from '@temporalio/worker';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { CREATE_TIMEOUTS } from '../../src/domain/timeouts';
import { accepted } from '../support/accepted';
import { deferred } from '../support/deferred';
import { handMadeWorker } from '../support/hand-made-worker';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { alwaysBound } from '../support/standing';
import { testBundle } from '../support/test-bundle';

// What the workflows of this test give a create, its sender must live with.
Object.assign(CREATE_TIMEOUTS, { httpBudgetMs: 4_000 });

describe('a create whose result is lost while it is paused', () => {
  let stack: MediaStack;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  it('[C4.4a] [C4.4b] is ended by the timer of its workflow, which finds the task; nobody has to unpause it', async () => {
    const { server } = stack;
    const prompt = 'paused for good';
    const recorded = deferred<void>();
    const paused = deferred<void>();
    let attempts = 0;
    const sender = await handMadeWorker(stack, { standing: alwaysBound }, (real) => ({
      [ACTIVITY.createVideo]: async (input) => {
        attempts += 1;
        await real[ACTIVITY.createVideo](input);
        recorded.resolve();
        await paused.promise;
        throw new Error('the result is lost');
      },
    }));
    const { taskQueue } = sender;
    const workflows = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue: server.uniqueId('short-ceiling'),
      workflowBundle: await testBundle(require.resolve('../support/workflows/short-ceiling')),
    });
    const running = [sender.run(), workflows.run()];
    try {
      const handle = await server.client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue: workflows.options.taskQueue,
        workflowId: server.uniqueId('paused-for-good'),
        args: [
          {
            request: { model: 'cine-1', durationSeconds: 2, prompt },
            startLimit: '1s',
            queues: { create: taskQueue, poll: taskQueue, download: taskQueue },
          },
        ],
      });
      await recorded.promise;
      await server.client.workflowService.pauseActivity({
        namespace: server.namespace,
        execution: { workflowId: handle.workflowId },
        type: ACTIVITY.createVideo,
        identity: 'operator',
        reason: 'a look around',
      });
      paused.resolve();
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      expect([attempts, await accepted(stack, prompt)]).toEqual([1, 1]);
    } finally {
      paused.resolve();
      sender.shutdown();
      workflows.shutdown();
      await Promise.all(running);
    }
  });
});
