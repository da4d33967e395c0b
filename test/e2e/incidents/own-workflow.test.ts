import { join } from 'node:path';
import { replyOf, startCli } from '../../cli/support/run-cli';
import { eventually } from '../../support/eventually';
import { type MediaStack, startMediaStack } from '../../support/media-stack';
import { TEST_WORKFLOWS } from '../../support/test-bundle';

/** Incidents C and D: the id is that of a workflow of the user's own, or of one on another queue than the shell's. */
describe('status of a workflow that is not the one the shell thinks of', () => {
  let stack: MediaStack;
  const status = async (id: string, env = {}) =>
    replyOf(await startCli(['status', id, '-o', 'json'], { ...stack.env, ...env }).ended).data;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } });
  });
  afterAll(() => stack.stop());

  const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 };

  test("of the user's own: its paid calls, and those of each by its id", async () => {
    const worker = await stack.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } });
    const id = stack.server.uniqueId('buyer');
    await stack.server.client.workflow.execute('buyOne', {
      taskQueue: stack.taskQueue,
      workflowId: id,
      args: [{ request }],
    });
    const found = await status(id);
    expect(found).toMatchObject({
      foundBy: 'workflow_id',
      workflow: { workflowId: id, type: 'buyOne', status: 'COMPLETED' },
      calls: [{ type: 'generateVideo', state: 'completed' }],
      // Never to start it again: its calls would have other keys.
      safe: expect.stringMatching(/your own workflows.*status` on each of its paid calls/) as string,
    });
    const [call] = found?.['calls'] as readonly { readonly id: string }[];
    expect(await status(call?.id ?? '')).toMatchObject({ outcome: { outcome: 'completed' } });
    await worker.stop();
  });

  test('its workers are those of its own queue, whatever queue the shell names', async () => {
    const worker = await stack.startWorker();
    const id = stack.server.uniqueId('elsewhere');
    await stack.server.client.workflow.execute('generateVideo', {
      taskQueue: stack.taskQueue,
      workflowId: id,
      args: [{ request }],
    });
    const other = { MEDIA_TASK_QUEUE: stack.server.uniqueId('nobody') };
    expect(await status(id, other)).toMatchObject({
      hasWorker: true,
      notes: [],
      outcome: { outcome: 'completed' },
    });

    const unserved = stack.server.uniqueId('unserved');
    const waiting = await stack.server.client.workflow.start('generateVideo', {
      taskQueue: unserved,
      workflowId: stack.server.uniqueId('waits'),
      args: [{ request }],
    });
    expect(await status(waiting.workflowId)).toMatchObject({
      hasWorker: false,
      safe: expect.stringContaining(`Start a worker on task queue ${unserved}`) as string,
    });
    await waiting.terminate();
    await worker.stop();
  });

  test('its code fails: why, since which try, and what to do', async () => {
    const workflowsPath = join(__dirname, '../../support/throwing-workflows/index.js');
    const bad = await stack.startWorker({ media: { workflows: { workflowsPath } } });
    const handle = await stack.server.client.workflow.start('buyOne', {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('bad'),
      args: [{ request }],
    });
    await eventually('the second try', async () => {
      const { raw } = await handle.describe();
      return (raw.pendingWorkflowTask?.attempt ?? 1) > 1;
    });
    const found = await status(handle.workflowId);
    expect(found?.['safe']).toMatch(/^Its workflow code fails: attempt \d+ .*temporal-media replay/);
    await handle.terminate();
    await bad.stop();
  });

  test('a paused image call: how to let it go on', async () => {
    const worker = await stack.startWorker();
    await stack.sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: 'paused',
        action: { type: 'status', status: 429, headers: { 'retry-after': '60' } },
      },
    ]);
    const handle = await stack.server.client.workflow.start('generateImage', {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('paused'),
      args: [{ request: { model: 'image-2', prompt: 'paused', size: '1024x1024' } }],
    });
    const { client, namespace } = stack.server;
    const [pending] = await eventually('the activity', async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.length ? raw.pendingActivities : undefined;
    });
    await client.workflowService.pauseActivity({
      namespace,
      execution: { workflowId: handle.workflowId },
      id: pending?.activityId ?? '',
      identity: 'ada',
    });
    expect(await status(handle.workflowId)).toMatchObject({
      workflow: { pendingActivities: [{ pause: { isRequested: false, by: 'ada' } }] },
      safe: expect.stringMatching(
        /is paused in Temporal: .* Resume it with `temporal activity unpause --workflow-id \S+ --activity-id/,
      ) as string,
    });
    await handle.terminate();
    await worker.stop();
  });
});
