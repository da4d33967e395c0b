import { join } from 'node:path';
import { type WorkflowHandle } from '@temporalio/client';
import { type ImageOutcome } from '../../src/domain';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { type MediaQueues } from '../../src/domain/workflow-inputs';
import { received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

const KINDS = [
  ['a video', WORKFLOW.generateVideo, { model: 'motion-omni', durationSeconds: 3 }],
  ['an image', WORKFLOW.generateImage, { model: 'image-2' }],
] as const;

/** What nobody wants any more is not bought, however late a worker comes (C4.4a, failure model: What Temporal runs again). */
describe('cancelled', () => {
  const stack = sharedStack({});

  async function start(
    type: string,
    request: { readonly prompt: string; readonly model: string },
    { queues, taskQueue }: { readonly queues?: MediaQueues; readonly taskQueue?: string },
  ): Promise<WorkflowHandle> {
    const { server, taskQueue: shared } = await stack();
    const workflowId = server.uniqueId('cancelled');
    return server.client.workflow.start(type, {
      taskQueue: taskQueue ?? shared,
      workflowId,
      args: [{ request, ...(queues === undefined ? {} : { queues }) }],
    });
  }

  async function startWorkerOn(taskQueue: string): Promise<void> {
    const shared = await stack();
    const journal = join(shared.dataDir, taskQueue);
    await shared.startWorker({ env: { MEDIA_TASK_QUEUE: taskQueue, MEDIA_JOURNAL: journal } });
  }

  /** Types of the activities that wait for a worker or run. */
  const pending = async (handle: WorkflowHandle): Promise<readonly (string | null | undefined)[]> =>
    ((await handle.describe()).raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name);

  /** Whatever waited in the queue before this image has gone by then. */
  async function imageThrough(queue: string): Promise<void> {
    const handle = await start(
      WORKFLOW.generateImage,
      { model: 'image-2', prompt: `barrier of ${queue}` },
      { queues: { image: queue } },
    );
    expect(((await handle.result()) as ImageOutcome).outcome).toBe('completed');
  }

  it.concurrent('a video whose create queue has no worker yet: the worker that comes later creates nothing', async () => {
    const prompt = 'nobody serves this create';
    const queue = (await stack()).server.uniqueId('nobody');
    const handle = await start(
      WORKFLOW.generateVideo,
      { ...KINDS[0][2], prompt },
      { queues: { create: queue } },
    );
    await eventually('the create', async () => (await pending(handle)).includes(ACTIVITY.createVideo));
    await handle.cancel();
    await eventually('the look into the journal', async () =>
      (await pending(handle)).includes(ACTIVITY.reconcileCreate),
    );
    expect(await pending(handle)).not.toContain(ACTIVITY.createVideo);
    await startWorkerOn(queue);
    expect(await handle.result()).toMatchObject({
      outcome: 'cancelled',
      video: null,
      billing: { state: 'none' },
    });
    await imageThrough(queue);
    expect(await received(await stack(), prompt)).toBe(0);
  });

  it.concurrent('an image whose queue has no worker yet: the worker that comes later sends nothing', async () => {
    const prompt = 'nobody serves this image';
    const queue = (await stack()).server.uniqueId('nobody');
    const handle = await start(
      WORKFLOW.generateImage,
      { ...KINDS[1][2], prompt },
      { queues: { image: queue } },
    );
    await eventually('the call', async () => (await pending(handle)).includes(ACTIVITY.generateImage));
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled', video: null });
    await startWorkerOn(queue);
    await imageThrough(queue);
    expect(await received(await stack(), prompt)).toBe(0);
  });

  it.concurrent('an image that the service refuses for now while it is cancelled: not sent again, and nothing is owed', async () => {
    const prompt = 'refused while it is cancelled';
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'generate', promptIncludes: prompt, action: { type: 'delay', ms: 4_000 } },
      {
        operation: 'generate',
        promptIncludes: prompt,
        times: 0,
        action: { type: 'status', status: 429, headers: { 'retry-after': '2' } },
      },
    ]);
    const handle = await start(WORKFLOW.generateImage, { ...KINDS[1][2], prompt }, {});
    await eventually('the send', async () => (await received(await stack(), prompt)) === 1);
    await handle.cancel();
    expect(await handle.result()).toMatchObject({
      outcome: 'cancelled',
      video: null,
      billing: { state: 'none' },
    });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent.each(KINDS)('%s before its first workflow task: nothing is sent', async (_, type, facts) => {
    const prompt = `cancelled before the first task of ${type}`;
    const taskQueue = (await stack()).server.uniqueId('late');
    const handle = await start(type, { ...facts, prompt }, { taskQueue });
    await handle.cancel();
    await startWorkerOn(taskQueue);
    expect(await handle.result()).toMatchObject({
      outcome: 'cancelled',
      video: null,
      billing: { state: 'none' },
    });
    await imageThrough(taskQueue);
    expect(await received(await stack(), prompt)).toBe(0);
  });
});
