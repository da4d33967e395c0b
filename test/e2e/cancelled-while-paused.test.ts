import { Worker } from '@temporalio/worker';
import { type WorkflowHandle } from '@temporalio/client';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS } from '../../src/domain/timeouts';
import { accepted } from '../support/accepted';
import { deferred } from '../support/deferred';
import { handMadeWorker } from '../support/hand-made-worker';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { testBundle } from '../support/test-bundle';
import { alwaysBound } from '../support/standing';

// What the workflows of this test give a paid call, its sender must live with.
Object.assign(CREATE_TIMEOUTS, { httpBudgetMs: 4_000 });
Object.assign(IMAGE_TIMEOUTS, { httpBudgetMs: 4_000, keepMarginMs: 500 });

/**
 * No timeout of the server fires for an activity that was paused while it ran (failure model: What Temporal runs again). Its sender here does
 * what one does that was killed after its record: it is never heard of again.
 */
describe('a paid call that is cancelled after it was paused and its sender was lost', () => {
  let stack: MediaStack;
  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 60_000 } } });
  });
  afterAll(() => stack.stop());

  const operate = async (handle: WorkflowHandle, type: string): Promise<void> => {
    await stack.server.client.workflowService.pauseActivity({
      namespace: stack.server.namespace,
      execution: { workflowId: handle.workflowId },
      type,
      identity: 'operator',
      reason: 'a look around',
    });
  };

  it.each([
    [WORKFLOW.generateVideo, ACTIVITY.createVideo, { model: 'cine-1', durationSeconds: 2 }],
    [WORKFLOW.generateImage, ACTIVITY.generateImage, { model: 'image-2' }],
  ] as const)(
    '[C4.4a] [C4.4b] %s comes to its end soon, and names what was bought',
    async (type, activity, facts) => {
      const prompt = `${activity}, paused and gone`;
      const recorded = deferred<void>();
      const testOver = deferred<never>();
      const sender = await handMadeWorker(stack, { standing: alwaysBound }, (real) => ({
        [activity]: async (input: never) => {
          await real[activity](input);
          recorded.resolve();
          return testOver.promise;
        },
      }));
      const workflows = await Worker.create({
        connection: stack.server.nativeConnection,
        namespace: stack.server.namespace,
        taskQueue: stack.server.uniqueId('short-limits'),
        workflowBundle: await testBundle(require.resolve('../support/workflows/short-limits')),
      });
      const { taskQueue } = sender;
      const running = [sender.run(), workflows.run()];
      try {
        const handle = await stack.server.client.workflow.start(type, {
          taskQueue: workflows.options.taskQueue,
          workflowId: stack.server.uniqueId('cancelled-while-paused'),
          args: [{ request: { ...facts, prompt }, queues: { create: taskQueue, image: taskQueue } }],
        });
        await recorded.promise;
        await operate(handle, activity);
        await handle.cancel();
        const outcome: unknown = await handle.result();
        if (type === WORKFLOW.generateVideo) {
          const [task] = await stack.sandbox.admin.tasks();
          expect(outcome).toMatchObject({ outcome: 'cancelled', video: { taskId: task?.id } });
        } else {
          expect(outcome).toMatchObject({
            outcome: 'unconfirmed',
            evidence: { cause: 'no_answer_in_time' },
            billing: { state: 'needs_review' },
          });
        }
        expect(await accepted(stack, prompt)).toBe(1);
      } finally {
        testOver.reject(new Error('the test is over'));
        sender.shutdown();
        workflows.shutdown();
        await Promise.all(running);
      }
    },
  );
});
