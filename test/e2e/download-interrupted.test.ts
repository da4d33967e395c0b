import { ApplicationFailure } from '@temporalio/activity';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

describe('a download that no worker could finish', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 0 } } }, async () => undefined);

  it('[C3.4] [C4.2] ends as still running with the last status completed: nothing is known against the file, and it is resumed', async () => {
    const all = await stack();
    const prompt = 'a film that nobody fetched';
    let isLost = true;
    const worker = await handMadeWorker(all, {}, (real) => ({
      [ACTIVITY.downloadVideo]: async (input) => {
        if (isLost) throw ApplicationFailure.nonRetryable('every attempt was lost');
        return real[ACTIVITY.downloadVideo](input);
      },
    }));
    await worker.runUntil(async () => {
      const { workflow } = all.server.client;
      const { taskQueue } = worker;
      const outcome: unknown = await workflow.execute(WORKFLOW.generateVideo, {
        taskQueue,
        workflowId: all.server.uniqueId('interrupted'),
        args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 } }],
      });
      const [task] = await all.sandbox.admin.tasks();
      expect(outcome).toMatchObject({
        outcome: 'still_running',
        lastStatus: 'completed',
        video: { taskId: task?.id },
      });
      isLost = false;
      const { video } = outcome as { readonly video: object };
      const resumed: unknown = await workflow.execute(WORKFLOW.awaitVideo, {
        taskQueue,
        workflowId: all.server.uniqueId('resumed'),
        args: [{ video }],
      });
      expect(resumed).toMatchObject({ outcome: 'completed', video: { taskId: task?.id } });
    });
    expect(await accepted(all, prompt)).toBe(1);
  });
});
