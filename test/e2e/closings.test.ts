import { type WorkflowHandle } from '@temporalio/client';
import { type SandboxOperation } from '../../packages/sandbox/src';
import { type VideoOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

/**
 * Ways in which a video workflow closes; once a task exists, each of them names it (architecture: Outcomes). Cancellations and limits
 * of time are among the faults of test/proof/temporal-faults.test.ts.
 */
describe('a video workflow closes', () => {
  const stack = sharedStack({});

  async function start(prompt: string, input: Partial<GenerateVideoInput> = {}): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    const request = { model: 'motion-omni', prompt, durationSeconds: 3 };
    const workflowId = server.uniqueId('closing');
    const args = [{ ...input, request }];
    return server.client.workflow.start(WORKFLOW.generateVideo, { taskQueue, workflowId, args });
  }

  const outcomeOf = (handle: WorkflowHandle): Promise<VideoOutcome> =>
    handle.result() as Promise<VideoOutcome>;

  const taskOf = (prompt: string): Promise<string> =>
    eventually(
      'the task',
      async () => (await (await stack()).sandbox.admin.tasks()).find((task) => task.prompt === prompt)?.id,
    );

  const asked = (operation: SandboxOperation, taskId: string): Promise<true> =>
    eventually(`a ${operation}`, async () => {
      const requests = await (await stack()).sandbox.admin.requests({ operation });
      return requests.some((request) => request.taskId === taskId) ? true : undefined;
    });

  it.concurrent('terminated while it watches: the journal names the task, its key and its workflow', async () => {
    const prompt = '[queue:0s] [run:6s] terminated while watching';
    const handle = await start(prompt);
    const taskId = await taskOf(prompt);
    await asked('poll', taskId);
    await handle.terminate('pulled the plug');
    const { media } = await stack();
    expect(await media.findTask(taskId)).toMatchObject({
      workflowId: handle.workflowId,
      video: { taskId, model: 'motion-omni', durationSeconds: 3, referenceMode: 'none', source: 'journal' },
    });
    // And the workflow's own last state leads to it too: waiting goes on from there.
    const resumed = await media.resume(handle.workflowId);
    expect(await resumed.result()).toMatchObject({ outcome: 'completed', video: { taskId } });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('terminated while the create is on its way: the journal still learns of the task', async () => {
    const prompt = 'terminated while creating';
    const { sandbox, media } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: prompt, action: { type: 'delay', ms: 3_000 } },
    ]);
    const handle = await start(prompt);
    await eventually('the send', async () => (await received(await stack(), prompt)) === 1);
    await handle.terminate('pulled the plug');
    const taskId = await taskOf(prompt);
    const found = await eventually('the record', async () => {
      const entry = await media.findTask(taskId);
      return entry.creationKey === null ? undefined : entry;
    });
    expect(found).toMatchObject({ workflowId: handle.workflowId, video: { taskId, model: 'motion-omni' } });
  });

  it.concurrent.each([
    ['completed', '[queue:0s] [run:1s] closes completed', {}],
    ['failed', '[queue:0s] [run:1s] [fail:moderation] closes failed', {}],
    ['still_running', '[run:120s] closes still running', { waitFor: '4s' }],
    ['content_unavailable', '[queue:0s] [run:1s] closes without content', {}],
  ] as const)('[C4.4b] as %s, and names the task with its facts', async (outcome, prompt, input) => {
    const { sandbox } = await stack();
    if (outcome === 'content_unavailable') {
      const action = { type: 'truncate', bytes: 2_000 } as const;
      await sandbox.admin.addFaults(
        (['content', 'media'] as const).map((operation) => ({
          operation,
          promptIncludes: prompt,
          times: 0,
          action,
        })),
      );
    }
    const handle = await start(prompt, input);
    const facts = { model: 'motion-omni', durationSeconds: 3, resolution: null, referenceMode: 'none' };
    expect(await outcomeOf(handle)).toMatchObject({
      outcome,
      video: { taskId: await taskOf(prompt), ...facts },
    });
  });
});
