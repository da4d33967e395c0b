import { join } from 'node:path';
import { type WorkflowHandle } from '@temporalio/client';
import { type VideoOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { type SandboxOperation } from '../../src/testing/sandbox';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

/** The look into the journal waits a minute for a worker before it is given up. */
const LIMIT_MS = 120_000;

/** Every way in which a video workflow closes; once a task exists, each of them names it (design 4.6). */
describe('a video workflow closes', () => {
  const stack = sharedStack({});

  async function start(
    prompt: string,
    input: Partial<GenerateVideoInput> & { readonly model?: string } = {},
    options: { readonly workflowExecutionTimeout?: string; readonly taskQueue?: string } = {},
  ): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    const { model = 'motion-omni', ...rest } = input;
    const request = { model, prompt, durationSeconds: 3 };
    const workflowId = server.uniqueId('closing');
    const args = [{ ...rest, request }];
    return server.client.workflow.start(WORKFLOW.generateVideo, { taskQueue, workflowId, args, ...options });
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

  it.concurrent(
    'cancelled while no worker serves the create queue: nothing is sent, after a look into the journal',
    async () => {
      const prompt = 'cancelled in an empty queue';
      const { server, media } = await stack();
      const handle = await start(prompt, { queues: { create: server.uniqueId('nobody') } });
      await eventually(
        'the create',
        async () => (await media.videoState(handle.workflowId)).phase === 'creating',
      );
      await handle.cancel();
      expect(await outcomeOf(handle)).toMatchObject({ outcome: 'cancelled', video: null });
      expect(await received(await stack(), prompt)).toBe(0);
    },
    LIMIT_MS,
  );

  it.concurrent('[C3.4] before its execution timeout: the wait is cut and the task kept', async () => {
    const prompt = '[run:300s] an execution that would expire';
    const handle = await start(prompt, {}, { workflowExecutionTimeout: '75s' });
    const outcome = await outcomeOf(handle);
    expect(outcome).toMatchObject({ outcome: 'still_running', video: { taskId: await taskOf(prompt) } });
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });

  it.concurrent(
    '[C3.4] before its execution timeout in a download: still running, completed at the service',
    async () => {
      const prompt = '[queue:0s] [run:1s] a download that would expire';
      const { sandbox } = await stack();
      await sandbox.admin.addFaults([
        { operation: 'content', promptIncludes: prompt, action: { type: 'slow_body', bytesPerSecond: 100 } },
      ]);
      const handle = await start(prompt, {}, { workflowExecutionTimeout: '75s' });
      expect(await outcomeOf(handle)).toMatchObject({
        outcome: 'still_running',
        lastStatus: 'completed',
        video: { taskId: await taskOf(prompt) },
      });
      expect((await handle.describe()).status.name).toBe('COMPLETED');
    },
  );

  it.concurrent(
    '[C4.4b] cancelled while the create is on its way: the create is let land and named',
    async () => {
      const prompt = 'cancelled while creating';
      const { sandbox } = await stack();
      await sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: prompt, action: { type: 'delay', ms: 4_000 } },
      ]);
      const handle = await start(prompt);
      await eventually('the send', async () => (await received(await stack(), prompt)) === 1);
      await handle.cancel();
      const outcome = await outcomeOf(handle);
      expect(outcome).toMatchObject({
        outcome: 'cancelled',
        video: { taskId: await taskOf(prompt), model: 'motion-omni' },
        billing: { state: 'needs_review' },
      });
      expect(await received(await stack(), prompt)).toBe(1);
    },
  );

  it.concurrent('cancelled while it waits to send again: nothing was accepted, nothing is sent', async () => {
    const prompt = '[http:429:300] cancelled between two sends';
    const handle = await start(prompt);
    await eventually('the wait', async () => {
      const state = await (await stack()).media.videoState(handle.workflowId);
      return state.phase === 'waiting_to_create';
    });
    await handle.cancel();
    expect(await outcomeOf(handle)).toMatchObject({
      outcome: 'cancelled',
      video: null,
      billing: { state: 'none' },
    });
    expect(await received(await stack(), prompt)).toBe(1);
    expect(await accepted(await stack(), prompt)).toBe(0);
  });

  it.concurrent('cancelled while it watches', async () => {
    const prompt = '[run:120s] cancelled while watching';
    const handle = await start(prompt);
    const taskId = await taskOf(prompt);
    await asked('poll', taskId);
    await handle.cancel();
    expect(await outcomeOf(handle)).toMatchObject({ outcome: 'cancelled', video: { taskId } });
  });

  it.concurrent('cancelled while it downloads', async () => {
    const prompt = '[queue:0s] [run:1s] cancelled while downloading';
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'content', promptIncludes: prompt, action: { type: 'slow_body', bytesPerSecond: 200 } },
    ]);
    const handle = await start(prompt);
    const taskId = await taskOf(prompt);
    await asked('content', taskId);
    await handle.cancel();
    expect(await outcomeOf(handle)).toMatchObject({ outcome: 'cancelled', video: { taskId } });
  });

  it.concurrent('cancelled before a worker took it up: nothing is sent', async () => {
    const prompt = 'cancelled before it began';
    const shared = await stack();
    const { server, dataDir } = shared;
    const taskQueue = server.uniqueId('late-worker');
    const handle = await start(prompt, {}, { taskQueue });
    await handle.cancel();
    await shared.startWorker({
      env: { MEDIA_TASK_QUEUE: taskQueue, MEDIA_JOURNAL: join(dataDir, taskQueue) },
    });
    expect(await outcomeOf(handle)).toMatchObject({ outcome: 'cancelled', video: null });
    expect(await received(await stack(), prompt)).toBe(0);
  });

  it.concurrent(
    'terminated while it watches: the journal names the task, its key and its workflow',
    async () => {
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
    },
  );

  it.concurrent(
    'terminated while the create is on its way: the journal still learns of the task',
    async () => {
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
    },
  );

  it.concurrent(
    'an execution too short for a create: refused before anything is sent, and told why',
    async () => {
      const prompt = 'no time for a create';
      const handle = await start(prompt, {}, { workflowExecutionTimeout: '45s' });
      expect(await outcomeOf(handle)).toMatchObject({
        outcome: 'rejected',
        reason: 'not_sent',
        message: expect.stringContaining('longer execution or run timeout') as string,
        sends: 0,
      });
      expect(await received(await stack(), prompt)).toBe(0);
    },
  );

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
