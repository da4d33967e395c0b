import { Worker } from '@temporalio/worker';
import { ACTIVITY, activityQueues } from '../../src/domain/names';
import { accepted, received } from '../support/accepted';
import { placesOf } from '../support/places';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS, testBundle } from '../support/test-bundle';

/** Workflows of a caller's own, on a worker that makes no media: they name the task queue of those that do. */
describe('the media queue of a caller', () => {
  let callers: Worker;
  let running: Promise<void>;

  // Before the stack, whose connection it is on.
  afterAll(async () => {
    callers.shutdown();
    await running;
  });
  const both = sharedStack({});
  beforeAll(async () => {
    const { server } = await both();
    callers = await Worker.create({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue: server.uniqueId('callers'),
      workflowBundle: await testBundle(TEST_WORKFLOWS),
    });
    running = callers.run();
  });

  async function call(type: string, args: unknown[]): Promise<{ outcome: unknown; workflowId: string }> {
    const { server } = await both();
    const workflowId = server.uniqueId(type);
    const { taskQueue } = callers.options;
    const outcome: unknown = await server.client.workflow.execute(type, { taskQueue, workflowId, args });
    return { outcome, workflowId };
  }

  const film = (prompt: string) => ({ request: { model: 'cine-1', prompt, durationSeconds: 2 } });
  const image = (prompt: string) => ({ model: 'image-2', prompt, size: '512x512' });

  it('is one option of both helpers, and a cap of images holds for callers too', async () => {
    const { server, taskQueue } = await both();
    const { outcome } = await call('buyVideoByHelper', [film('a film of a caller'), { taskQueue }]);
    expect(outcome).toMatchObject({ outcome: 'completed' });
    const drawn = await call('buyImageByHelper', [image('an image of a caller'), { taskQueue }, {}]);
    expect(drawn.outcome).toMatchObject({ outcome: 'completed' });
    expect(await placesOf(server.client, drawn.workflowId)).toEqual([
      `${ACTIVITY.generateImage} on ${activityQueues(taskQueue).image}`,
    ]);
    expect(await accepted(await both(), 'an image of a caller')).toBe(1);
  });

  it.each([
    ['buyVideoByHelper', (prompt: string) => [film(prompt), {}]],
    ['buyVideoByHelper', (prompt: string) => [film(prompt), { taskQueue: '' }]],
    ['buyImageByHelper', (prompt: string) => [image(prompt)]],
    ['buyImageByHelper', (prompt: string) => [image(prompt), {}, { taskQueue: null }]],
  ])('%s without one is refused at once, and says what to name', async (type, args) => {
    const prompt = `nowhere ${type}`;
    const { outcome } = await call(type, args(prompt));
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid_request',
      field: 'taskQueue',
      billing: { state: 'none' },
    });
    for (const told of ['MEDIA_TASK_QUEUE', 'workflowInfo().taskQueue'])
      expect((outcome as { message: string }).message).toContain(told);
    expect(await received(await both(), prompt)).toBe(0);
  });

  it('[C4.4a] a bare image with too little time is refused, and told the option and its least value', async () => {
    const { taskQueue } = await both();
    const prompt = 'in a minute';
    const { outcome } = await call('runBareActivity', [
      ACTIVITY.generateImage,
      { request: image(prompt) },
      { taskQueue, startToCloseTimeout: '1 minute' },
    ]);
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    const { message } = outcome as { message: string };
    for (const told of ['startToCloseTimeout is 60 s', '260 s or more']) expect(message).toContain(told);
    expect(await received(await both(), prompt)).toBe(0);
  });

  it('that nobody serves ends the call at its start limit, and is named', async () => {
    const { server } = await both();
    const nobody = server.uniqueId('nobody');
    const { outcome } = await call('buyImageByHelper', [
      image('for nobody'),
      { taskQueue: nobody, startLimit: '1s' },
    ]);
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    expect((outcome as { message: string }).message).toContain(`"${nobody}"`);
  });
});
