import { randomUUID } from 'node:crypto';
import { type WorkflowHandle } from '@temporalio/client';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { runCli, runJson } from '../cli/support/run-cli';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { uiOf } from '../support/ui-actions';

jest.setTimeout(120_000);

/** What a person has stopped does not continue by itself: `status` says who did it, when, why, and how to lift it. */
describe('status of a call that a person has stopped', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } });

  const pause = {
    isRequested: false,
    by: 'ui',
    reason: 'a look',
    at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
  };

  /** Starts an image workflow whose request takes some seconds. */
  async function slowImage(media: MediaStack, prompt: string, ms: number) {
    await media.sandbox.admin.addFaults([
      { operation: 'generate', promptIncludes: prompt, action: { type: 'delay', ms } },
    ]);
    const id = media.server.uniqueId('stopped');
    const request = { model: 'image-2', prompt, size: '512x512' };
    const started = await media.media.images.start({ request }, { id, as: 'workflow' });
    await eventually('the request', async () => (await received(media, prompt)) > 0);
    return { id, started };
  }

  it.concurrent('names the pause of a workflow', async () => {
    const media = await stack();
    const { id, started } = await slowImage(media, 'an image of a paused workflow', 15_000);
    // Older servers, and those that have it switched off, refuse.
    if (!(await uiOf(media).pause(id)))
      return void process.stdout.write('SKIPPED: this server pauses no workflow\n');
    const { reply } = await runJson(['status', id], media.env);
    expect(reply.data).toMatchObject({ workflow: { status: 'PAUSED', pause } });
    expect(reply.data?.['safe']).toContain(`temporal workflow unpause --workflow-id ${id}`);
    expect((await runCli(['status', id], media.env)).stdout).toMatch(/^Paused: +by ui at \S+: a look$/m);
    await uiOf(media).unpause(id);
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
  });

  it.concurrent('names the pause of an activity, and before it the pause that was asked for', async () => {
    const media = await stack();
    const prompt = 'an image of a paused activity';
    const { id, started } = await slowImage(media, prompt, 15_000);
    await uiOf(media).pauseActivity(id, ACTIVITY.generateImage);
    const activities = async () => (await runJson(['status', id], media.env)).reply.data;
    // The request is in flight, and its result counts.
    expect(await activities()).toMatchObject({
      workflow: {
        pendingActivities: [{ type: ACTIVITY.generateImage, pause: { ...pause, isRequested: true } }],
      },
      safe: expect.stringContaining(`temporal activity unpause --workflow-id ${id} --activity-id`) as string,
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
  });

  it.concurrent('names the pause of an activity that waits for its next attempt', async () => {
    const media = await stack();
    const prompt = 'an image that is paused between attempts';
    await media.sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: prompt,
        action: { type: 'status', status: 503, headers: { 'retry-after': '20' } },
      },
    ]);
    const id = media.server.uniqueId('between');
    const request = { model: 'image-2', prompt, size: '512x512' };
    // The workflow `generateImage` waits with timers, so its activity never waits for an attempt.
    const handle = media.server.client.activity;
    if ((await media.media.images.start({ request }, { id })).as === 'workflow')
      return void process.stdout.write('SKIPPED: this server runs no activity without a workflow\n');
    await eventually('the refusal', async () => (await received(media, prompt)) > 0);
    await eventually('the next attempt', async () => (await handle.getHandle(id).describe()).attempt > 1);
    await handle.getHandle(id).pause({ reason: 'a look' });
    const { reply } = await runJson(['status', id], media.env);
    expect(reply.data).toMatchObject({
      activity: { status: 'PAUSED', attempt: 2, pause: { isRequested: false } },
    });
    expect(reply.data?.['safe']).toContain(`temporal activity unpause --activity-id ${id}`);
    await handle.getHandle(id).unpause();
    await handle.getHandle(id).terminate('the test ends');
  });

  it.concurrent('names the queue without workers to which somebody has moved an activity', async () => {
    const media = await stack();
    const { namespace, client } = media.server;
    const [id, queue] = [media.server.uniqueId('moved'), media.server.uniqueId('nowhere')];
    const request = { model: 'image-2', prompt: 'an image that was moved', size: '512x512' };
    const queues = { image: queue };
    for (const as of ['workflow', 'activity'] as const) {
      const started = await media.media.images.start(
        { request, queues },
        as === 'workflow' ? { id, as } : { id },
      );
      await eventually('the activity', async () => {
        const { reply } = await runJson(['status', id], media.env);
        return String(reply.data?.['safe']).includes(`Start a worker on task queue ${queue}`);
      });
      if (started.as === 'workflow') await client.workflow.getHandle(id).terminate('the test ends');
      else await client.activity.getHandle(id).terminate('the test ends');
    }
    expect(await received(media, request.prompt)).toBe(0);
    // What was scheduled elsewhere, and whose options an operator then changes.
    const { id: slow, started } = await slowImage(media, 'an image that was moved while it was drawn', 3_000);
    await client.workflowService.updateActivityOptions({
      namespace,
      execution: { workflowId: slow },
      type: ACTIVITY.generateImage,
      activityOptions: { taskQueue: { name: queue } },
      updateMask: { paths: ['task_queue.name'] },
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
  });

  it.concurrent('names the pause of a video, which is bought once', async () => {
    const media = await stack();
    const prompt = '[run:8s] a film of a paused wait';
    const handle = await media.server.client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue: media.taskQueue,
      workflowId: media.server.uniqueId('film'),
      args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 } }],
    });
    await eventually('the task', async () => (await accepted(media, prompt)) === 1);
    const paused = await uiOf(media).pause(handle.workflowId);
    if (paused) {
      const { reply } = await runJson(['status', handle.workflowId], media.env);
      expect(reply.data).toMatchObject({ workflow: { pause } });
      await uiOf(media).unpause(handle.workflowId);
    }
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
  });
});

describe('a pause before a workflow task has started, which the SDK cannot replay afterwards', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 } } }, () =>
    Promise.resolve(),
  );

  it('status names the reset that continues a new call and one whose task is paid, each bought once', async () => {
    const media = await stack();
    const { client, namespace } = media.server;
    const prompts = [
      '[run:4s] a film paused after its create',
      'a film paused before its first task',
    ] as const;
    const start = (prompt: string) =>
      client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue: media.taskQueue,
        workflowId: media.server.uniqueId('early'),
        args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 } }],
      });
    const isPending = async (handle: WorkflowHandle) =>
      (await handle.describe()).raw.pendingWorkflowTask != null;
    const worker = await media.startWorker();
    const paid = await start(prompts[0]);
    await eventually('the timer of its poll', async () => {
      const { events } = await paid.fetchHistory();
      return (await accepted(media, prompts[0])) === 1 && events?.at(-1)?.timerStartedEventAttributes != null;
    });
    await worker.stop();
    const handles = [paid, await start(prompts[1])];
    for (const handle of handles) {
      await eventually('a task without a worker', () => isPending(handle));
      if (!(await uiOf(media).pauseNow(handle.workflowId)))
        return void process.stdout.write('SKIPPED: this server pauses no workflow\n');
      await uiOf(media).unpause(handle.workflowId);
    }
    const back = await media.startWorker();
    for (const handle of handles) {
      let advice = '';
      await eventually('the failed workflow task', async () => {
        const { reply } = await runJson(['status', handle.workflowId], media.env);
        advice = String(reply.data?.['safe']);
        return advice.includes('temporal workflow reset') || !(await isPending(handle));
      });
      // A server that leaves such a task alone has nothing to reset.
      const event = /reset --workflow-id (\S+) --event-id (\d+) /.exec(advice);
      if (event === null) continue;
      expect(event[1]).toBe(handle.workflowId);
      await client.workflowService.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId: handle.workflowId },
        workflowTaskFinishEventId: Number(event[2]) as never,
        requestId: randomUUID(),
        reason: 'pause',
      });
    }
    for (const { workflowId } of handles)
      expect(await client.workflow.getHandle(workflowId).result()).toMatchObject({ outcome: 'completed' });
    expect(await Promise.all(prompts.map((prompt) => accepted(media, prompt)))).toEqual([1, 1]);
    await back.stop();
  });
});
