import { Worker } from '@temporalio/worker';
import { type CreateOnceResult } from '../../src/workflows';
import { accepted } from '../support/accepted';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS, testBundle } from '../support/test-bundle';

/** `createOnce` issues the same commands in a run that was reset: what came before the reset is replayed (C3.3). */
describe('a workflow of its own that gives a create up and continues', () => {
  const stack = sharedStack({}, (media) =>
    media.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );

  it.concurrent.each(['before it begins', 'while it waits'] as const)(
    'replays after a reset to its last task: %s',
    async (when) => {
      const { server, sandbox, taskQueue } = await stack();
      const prompt = `a stork, given up ${when}`;
      await sandbox.admin.addFaults([
        {
          operation: 'create',
          promptIncludes: prompt,
          action: { type: 'status', status: 429, headers: { 'retry-after': '30' } },
        },
      ]);
      const workflowId = server.uniqueId('gives-up');
      const first = await server.client.workflow.start('givesACreateUp', {
        taskQueue,
        workflowId,
        args: [server.uniqueId('key'), { model: 'cine-1', prompt, durationSeconds: 2 }, when],
      });
      const unbought: CreateOnceResult = { kind: 'cancelled', mayBeOwed: false };
      expect(await first.result()).toEqual(unbought);
      const again = await resetWorkflow(server, workflowId, 1);
      expect(await again.result()).toEqual(unbought);
      const history = await again.fetchHistory();
      await Worker.runReplayHistory(
        { workflowBundle: await testBundle(TEST_WORKFLOWS) },
        history,
        workflowId,
      );
      expect(await accepted(await stack(), prompt)).toBe(0);
    },
  );
});
