import { type ImageOutcome } from '../../src/domain';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { type FlakyWorker, startFlakyWorker } from '../proof/temporal-faults/flaky-worker';
import { accepted, received } from '../support/accepted';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** One process serves workflows and images: where it is away, the limit passes before any workflow can hear of it. */
describe('an image call whose start limit passed while nobody ran its workflow', () => {
  let stack: MediaStack;
  beforeEach(async () => {
    stack = await startMediaStack();
  });
  afterEach(() => stack.stop());

  it('[C4.4b] costs nothing for sure where no worker had it', async () => {
    const prompt = 'a heron that nobody painted';
    const images = stack.server.uniqueId('images');
    const flows = await stack.startWorker({ ownConnection: true });
    const handle = await order(prompt, images);
    await eventually('the call', async () => (await pendingCall(handle)) !== undefined);
    await flows.stop();
    await givenUp(handle);
    const [coming, successor] = [
      await startFlakyWorker(stack, images),
      await stack.startWorker({ ownConnection: true }),
    ];
    const outcome = (await handle.result()) as ImageOutcome;
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    expect((outcome as { message: string }).message).toContain(images);
    expect(await received(stack, prompt)).toBe(0);
    await coming.stop();
    await successor.stop();
  });

  it('[C4.4b] is looked up where an operator reset it, heartbeats and all, and its images come', async () => {
    const prompt = 'a heron that was painted before the reset';
    const { client, namespace } = stack.server;
    const flows = await stack.startWorker({ ownConnection: true });
    const images: FlakyWorker = await startFlakyWorker(stack);
    const recorded = deferred<void>();
    const gate = deferred<void>();
    images.script(prompt, async (real) => {
      await real();
      recorded.resolve();
      await gate.promise;
      throw new Error('the result is lost');
    });
    const handle = await order(prompt, images.taskQueue);
    await recorded.promise;
    const target = { namespace, execution: { workflowId: handle.workflowId }, type: ACTIVITY.generateImage };
    await client.workflowService.pauseActivity({ ...target, reason: 'a look around' });
    gate.resolve();
    await eventually(
      'the failed attempt',
      async () => (await pendingCall(handle))?.lastFailure != null || undefined,
    );
    await images.stop();
    await flows.stop();
    await client.workflowService.resetActivity({ ...target, resetHeartbeat: true });
    await givenUp(handle);
    const coming = await startFlakyWorker(stack, images.taskQueue);
    const successor = await stack.startWorker({ ownConnection: true });
    expect((await handle.result()) as ImageOutcome).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
    await coming.stop();
    await successor.stop();
  });

  type Started = Awaited<ReturnType<typeof order>>;

  function order(prompt: string, image: string) {
    return stack.server.client.workflow.start(WORKFLOW.generateImage, {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('untaken'),
      args: [{ request: { model: 'image-2', prompt }, startLimit: 1000, queues: { image } }],
    });
  }

  async function pendingCall(handle: Started) {
    return (await handle.describe()).raw.pendingActivities?.[0];
  }

  /** By the server, and so long ago that its time alone says no more whether an attempt was reset. */
  async function givenUp(handle: Started): Promise<void> {
    await eventually('the limit of the call', async () =>
      (await handle.fetchHistory()).events?.some((event) => event.activityTaskTimedOutEventAttributes),
    );
    await eventually('some time', async () => {
      const { startTime } = await handle.describe();
      return Date.now() - startTime.getTime() > 20_000;
    });
  }
});
