import { type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { type ImageOutcome, type VideoOutcome } from '../../src/domain';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS } from '../../src/domain/timeouts';
import { type FlakyWorker, startFlakyWorker } from '../proof/temporal-faults/flaky-worker';
import { accepted, received } from '../support/accepted';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { type MediaStack } from '../support/media-stack';
import { alwaysBound } from '../support/queue-binding';
import { sharedStack } from '../support/shared-stack';
import { testBundle } from '../support/test-bundle';

// What the workflows of some of these tests give a paid call, its sender must live with.
Object.assign(CREATE_TIMEOUTS, { httpBudgetMs: 4_000 });
Object.assign(IMAGE_TIMEOUTS, { httpBudgetMs: 4_000, keepMarginMs: 500 });

// Most of these wait for a limit of a minute and more, side by side.
jest.setTimeout(300_000);

/**
 * What an operator does to a paid activity must not make it look as if nobody ever had it, nor leave its workflow without
 * an end (failure model: What Temporal runs again). A limit of a start is a minute at the least: these wait side by side.
 */
describe('a paid call', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  it.concurrent('[C4.4a] [C4.4b] whose result is lost while it is paused is ended by the timer of its workflow, which finds the task', async () => {
    const media = await stack();
    const prompt = 'paused for good';
    const recorded = deferred<void>();
    const paused = deferred<void>();
    let attempts = 0;
    const sender = await handMadeWorker(media, { standing: alwaysBound }, (real) => ({
      [ACTIVITY.createVideo]: async (input) => {
        attempts += 1;
        await real[ACTIVITY.createVideo](input);
        recorded.resolve();
        await paused.promise;
        throw new Error('the result is lost');
      },
    }));
    const { taskQueue } = sender;
    const workflows = await workerOf(media, require.resolve('../support/workflows/short-ceiling'));
    const running = [sender.run(), workflows.run()];
    try {
      const handle = await media.server.client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue: workflows.options.taskQueue,
        workflowId: media.server.uniqueId('paused-for-good'),
        args: [
          {
            request: { model: 'cine-1', durationSeconds: 2, prompt },
            startLimit: '1s',
            queues: { create: taskQueue, poll: taskQueue, download: taskQueue },
          },
        ],
      });
      await recorded.promise;
      await pause(media, handle, ACTIVITY.createVideo);
      paused.resolve();
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      expect([attempts, await accepted(media, prompt)]).toEqual([1, 1]);
    } finally {
      paused.resolve();
      sender.shutdown();
      workflows.shutdown();
      await Promise.all(running);
    }
  });

  // No timeout of the server fires for an activity that was paused while it ran. Its sender here does what one does that
  // was killed after its record: it is never heard of again.
  it.concurrent.each([
    [WORKFLOW.generateVideo, ACTIVITY.createVideo, { model: 'cine-1', durationSeconds: 2 }],
    [WORKFLOW.generateImage, ACTIVITY.generateImage, { model: 'image-2' }],
  ] as const)(
    '[C4.4a] [C4.4b] that is cancelled after it was paused and its sender was lost: %s ends soon, and names what was bought',
    async (type, activity, facts) => {
      const media = await stack();
      const prompt = `${activity}, paused and gone`;
      const recorded = deferred<void>();
      const testOver = deferred<never>();
      const sender = await handMadeWorker(media, { standing: alwaysBound }, (real) => ({
        [activity]: async (input: never) => {
          await real[activity](input);
          recorded.resolve();
          return testOver.promise;
        },
      }));
      const workflows = await workerOf(media, require.resolve('../support/workflows/short-limits'));
      const { taskQueue } = sender;
      const running = [sender.run(), workflows.run()];
      try {
        const handle = await media.server.client.workflow.start(type, {
          taskQueue: workflows.options.taskQueue,
          workflowId: media.server.uniqueId('cancelled-while-paused'),
          args: [{ request: { ...facts, prompt }, queues: { create: taskQueue, image: taskQueue } }],
        });
        await recorded.promise;
        await pause(media, handle, activity);
        await handle.cancel();
        const outcome: unknown = await handle.result();
        if (type === WORKFLOW.generateVideo) {
          const task = (await media.sandbox.admin.tasks()).find((one) => one.prompt === prompt);
          expect(outcome).toMatchObject({ outcome: 'cancelled', video: { taskId: task?.id } });
        } else {
          expect(outcome).toMatchObject({
            outcome: 'unconfirmed',
            evidence: { cause: 'no_answer_in_time' },
            billing: { state: 'needs_review' },
          });
        }
        expect(await accepted(media, prompt)).toBe(1);
      } finally {
        testOver.reject(new Error('the test is over'));
        sender.shutdown();
        workflows.shutdown();
        await Promise.all(running);
      }
    },
  );

  it.concurrent('[C4.4b] that is reset, heartbeats and all, is looked up in the journal, however long that takes, and its video comes', async () => {
    const media = await stack();
    const prompt = 'a heron that was bought before the reset';
    const { creates, recorded, gate } = await losingWorker(media, prompt);
    const handle = await media.server.client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue: media.taskQueue,
      workflowId: media.server.uniqueId('activity-reset'),
      args: [
        {
          request: { model: 'cine-1', prompt, durationSeconds: 2 },
          startLimit: '1s',
          queues: { create: creates.taskQueue },
        },
      ],
    });
    await recorded.promise;
    await pause(media, handle, ACTIVITY.createVideo);
    gate.resolve();
    await eventually('the failed attempt', async () => (await pendingCall(handle))?.lastFailure != null);
    await creates.stop();
    // The operator takes some time: what is done within the very seconds of the first try nobody can tell apart.
    await since(handle, 15_000);
    await reset(media, handle, ACTIVITY.createVideo);
    const asked = await eventually(
      'the reconciliation',
      async () =>
        (await handle.fetchHistory()).events
          ?.map((event) => event.activityTaskScheduledEventAttributes)
          .find((scheduled) => scheduled?.activityType?.name === ACTIVITY.reconcileCreate),
      120_000,
    );
    expect(Number(asked?.scheduleToStartTimeout?.seconds)).toBe(24 * 60 * 60);
    const coming = await startFlakyWorker(media, creates.taskQueue);
    expect((await handle.result()) as VideoOutcome).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
    await coming.stop();
  });

  // One process serves workflows and images: where it is away, the limit passes before any workflow can hear of it.
  it.concurrent('[C4.4b] whose start limit passed while nobody ran its workflow costs nothing for sure where no worker had it', async () => {
    const media = await stack();
    const prompt = 'a heron that nobody painted';
    const images = media.server.uniqueId('images');
    const flows = await startFlows(media);
    const handle = await order(media, prompt, flows.taskQueue, images);
    // Its history keeps it, also where the server is so busy that the limit passes between two looks.
    await eventually('the call', async () =>
      (await handle.fetchHistory()).events?.some((event) => event.activityTaskScheduledEventAttributes),
    );
    await flows.stop();
    await givenUp(handle);
    const [coming, successor] = [
      await startFlakyWorker(media, images),
      await startFlows(media, flows.taskQueue),
    ];
    const outcome = (await handle.result()) as ImageOutcome;
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      reason: 'not_sent',
      billing: { state: 'none' },
    });
    expect((outcome as { message: string }).message).toContain(images);
    expect(await received(media, prompt)).toBe(0);
    await coming.stop();
    await successor.stop();
  });

  it.concurrent('[C4.4b] whose start limit passed so is looked up where an operator reset it, and its images come', async () => {
    const media = await stack();
    const prompt = 'a heron that was painted before the reset';
    const flows = await startFlows(media);
    const { creates: images, recorded, gate } = await losingWorker(media, prompt);
    const handle = await order(media, prompt, flows.taskQueue, images.taskQueue);
    await recorded.promise;
    await pause(media, handle, ACTIVITY.generateImage);
    gate.resolve();
    await eventually('the failed attempt', async () => (await pendingCall(handle))?.lastFailure != null);
    await images.stop();
    await flows.stop();
    await reset(media, handle, ACTIVITY.generateImage);
    await givenUp(handle);
    const coming = await startFlakyWorker(media, images.taskQueue);
    const successor = await startFlows(media, flows.taskQueue);
    expect((await handle.result()) as ImageOutcome).toMatchObject({ outcome: 'completed' });
    expect(await accepted(media, prompt)).toBe(1);
    await coming.stop();
    await successor.stop();
  });
});

async function workerOf({ server }: MediaStack, workflowsPath: string): Promise<Worker> {
  return Worker.create({
    connection: server.nativeConnection,
    namespace: server.namespace,
    taskQueue: server.uniqueId('workflows'),
    workflowBundle: await testBundle(workflowsPath),
  });
}

/** A worker of a queue of its own, for a workflow that is to be left alone. */
async function startFlows(media: MediaStack, taskQueue = media.server.uniqueId('flows')) {
  const worker = await media.startWorker({ env: { MEDIA_TASK_QUEUE: taskQueue }, ownConnection: true });
  return { taskQueue, stop: () => worker.stop() };
}

/** A worker that makes this call, says so, and loses its result once the gate is open. */
async function losingWorker(media: MediaStack, prompt: string) {
  const recorded = deferred<void>();
  const gate = deferred<void>();
  const creates: FlakyWorker = await startFlakyWorker(media);
  creates.script(prompt, async (real) => {
    await real();
    recorded.resolve();
    await gate.promise;
    throw new Error('the result is lost');
  });
  return { creates, recorded, gate };
}

function targetOf({ server: { namespace } }: MediaStack, { workflowId }: WorkflowHandle, type: string) {
  return { namespace, execution: { workflowId }, type, identity: 'operator' };
}

async function pause(media: MediaStack, handle: WorkflowHandle, type: string): Promise<void> {
  const { workflowService } = media.server.client;
  await workflowService.pauseActivity({ ...targetOf(media, handle, type), reason: 'a look around' });
}

async function reset(media: MediaStack, handle: WorkflowHandle, type: string): Promise<void> {
  const { workflowService } = media.server.client;
  await workflowService.resetActivity({ ...targetOf(media, handle, type), resetHeartbeat: true });
}

function order({ server }: MediaStack, prompt: string, taskQueue: string, image: string) {
  return server.client.workflow.start(WORKFLOW.generateImage, {
    taskQueue,
    workflowId: server.uniqueId('untaken'),
    args: [{ request: { model: 'image-2', prompt }, startLimit: 5_000, queues: { image } }],
  });
}

async function pendingCall(handle: WorkflowHandle) {
  return (await handle.describe()).raw.pendingActivities?.[0];
}

async function since(handle: WorkflowHandle, ms: number): Promise<void> {
  await eventually('some time', async () => Date.now() - (await handle.describe()).startTime.getTime() > ms);
}

/** By the server, and so long ago that its time alone says no more whether an attempt was reset. */
async function givenUp(handle: WorkflowHandle): Promise<void> {
  await eventually('the limit of the call', async () =>
    (await handle.fetchHistory()).events?.some((event) => event.activityTaskTimedOutEventAttributes),
  );
  await since(handle, 20_000);
}
