import { WorkflowFailedError } from '@temporalio/client';
import { TemporalMediaClient } from '../../src/client';
import { ACTIVITY } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS } from '../support/test-bundle';

const VIDEO = { model: 'cine-1', prompt: 'a kite' };
const IMAGE = { model: 'image-2', prompt: 'a kite' };

/** What somebody sends who has no types of ours, such as a Python program: its spelling must never buy something else. */
describe('keys that nobody knows', () => {
  const stack = sharedStack({}, (made) =>
    made.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );

  async function execute(type: string, ...args: unknown[]): Promise<unknown> {
    const { server, taskQueue } = await stack();
    return server.client.workflow.execute(type, { taskQueue, workflowId: server.uniqueId('python'), args });
  }

  async function received(): Promise<number> {
    return (await (await stack()).sandbox.admin.requests()).filter(({ method }) => method === 'POST').length;
  }

  describe('of a paid call', () => {
    const campaign = { request: VIDEO, creationKey: 'k' };
    it.each<[name: string, field: string, near: string, type: string, args: unknown[]]>([
      [
        'a request of a video',
        'request.duration_seconds',
        'durationSeconds',
        'generateVideo',
        [{ request: { ...VIDEO, duration_seconds: 8 } }],
      ],
      [
        'a request of a child',
        'request.aspect_ratio',
        'aspectRatio',
        'buyVideoByHelper',
        [{ request: { ...VIDEO, aspect_ratio: '9:16' } }],
      ],
      [
        'a reference',
        'request.references[0].type',
        'kind',
        'generateVideo',
        [
          {
            request: {
              ...VIDEO,
              references: [{ kind: 'image', type: 'image', source: { url: 'https://h.invalid/1' } }],
            },
          },
        ],
      ],
      [
        'a source',
        'request.references[0].source.uri',
        'url',
        'generateVideo',
        [
          {
            request: {
              ...VIDEO,
              references: [{ kind: 'image', source: { url: 'https://h.invalid/1', uri: 'x' } }],
            },
          },
        ],
      ],
      [
        'a video',
        'creation_key',
        'creationKey',
        'generateVideo',
        [{ request: VIDEO, creation_key: 'order-9' }],
      ],
      [
        'a video, once more',
        'creation_key',
        'creationKey',
        'generateVideo',
        [{ request: VIDEO, creation_key: 'order-9' }],
      ],
      ['a wait', 'wait_for', 'waitFor', 'generateVideo', [{ request: VIDEO, wait_for: '1h' }]],
      [
        'a child',
        'refuse_while_unconfirmed',
        'refuseWhileUnconfirmed',
        'buyVideoByHelper',
        [{ request: VIDEO, refuse_while_unconfirmed: true }],
      ],
      [
        'a policy',
        'policy.on_429',
        'on429',
        'generateVideo',
        [{ request: VIDEO, policy: { on_429: 'fail' } }],
      ],
      [
        'the queues',
        'queues.creates',
        'create',
        'generateVideo',
        [{ request: VIDEO, queues: { creates: 'q' } }],
      ],
      [
        'slow polling',
        'slowPolling.every',
        'interval',
        'generateVideo',
        [{ request: VIDEO, slowPolling: { after: '1h', interval: '1m', every: '1m' } }],
      ],
      [
        'a request of an image',
        'request.number',
        'n',
        'generateImage',
        [{ request: { ...IMAGE, number: 4 } }],
      ],
      [
        'an image',
        'creation_key',
        'creationKey',
        'generateImage',
        [{ request: IMAGE, creation_key: 'order-9' }],
      ],
      [
        'a request of an edit',
        'request.image',
        'images',
        'editImage',
        [{ request: { ...IMAGE, images: [{ file: 'x' }], image: 'x.png' } }],
      ],
      [
        'the defaults of the helpers',
        'start_limit',
        'startLimit',
        'buyImageByHelper',
        [IMAGE, { taskQueue: 'media', start_limit: '1m' }, {}],
      ],
      [
        'the options of a helper',
        'creation_key',
        'creationKey',
        'buyImageByHelper',
        [IMAGE, { taskQueue: 'media' }, { creation_key: 'order-9' }],
      ],
      [
        'the queue of a helper',
        'queues',
        'taskQueue',
        'buyImageByHelper',
        [IMAGE, { queues: { image: 'media/image' } }, {}],
      ],
      [
        'a bare image',
        'creation_key',
        'creationKey',
        'runBareActivity',
        [ACTIVITY.generateImage, { request: IMAGE, creation_key: 'order-9' }],
      ],
      [
        'a bare edit',
        'creation_key',
        'creationKey',
        'runBareActivity',
        [ACTIVITY.editImage, { request: { ...IMAGE, images: [] }, creation_key: 'order-9' }],
      ],
      [
        'a bare video',
        'recorded_only',
        'recordedOnly',
        'runBareActivity',
        [ACTIVITY.createVideo, { ...campaign, recorded_only: true }],
      ],
    ])('in %s: %s', async (_name, field, near, type, args) => {
      expect(await execute(type, ...args)).toMatchObject({
        outcome: 'rejected',
        reason: 'invalid_request',
        field,
        message: expect.stringContaining(near) as string,
      });
      expect(await received()).toBe(0);
    });

    it('a field of the service’s own is told its place', async () => {
      expect(await execute('generateVideo', { request: { ...VIDEO, camera_motion: 'pan' } })).toMatchObject({
        field: 'request.camera_motion',
        message: expect.stringContaining('fields') as string,
        sends: 0,
      });
    });

    it('a bare create without a key is refused, for nothing could keep it from being sent twice', async () => {
      expect(await execute('runBareActivity', ACTIVITY.createVideo, { request: VIDEO })).toMatchObject({
        outcome: 'rejected',
        reason: 'creation_key_required',
        field: 'creationKey',
      });
      expect(await received()).toBe(0);
    });
  });

  it.each<[type: string, field: string, near: string, input: object]>([
    [WORKFLOW.awaitVideo, 'wait_for', 'waitFor', { video: { taskId: 'vid_1' }, wait_for: '1h' }],
    [WORKFLOW.awaitVideo, 'video.task_id', 'taskId', { video: { taskId: 'vid_1', task_id: 'vid_1' } }],
    [WORKFLOW.findVideoTask, 'ask_service', 'askService', { taskId: 'vid_1', ask_service: true }],
    [WORKFLOW.reviewJournal, 'creation_key', 'creationKey', { list: 'unconfirmed', creation_key: 'order-9' }],
    [
      WORKFLOW.runCampaign,
      'max_attempts',
      'maxAttempts',
      { manifest: { source: { file: 'm.csv' } }, max_attempts: 1 },
    ],
    [
      WORKFLOW.runCampaign,
      'budget.micro_units',
      'microUnits',
      { manifest: { source: { file: 'm.csv' } }, budget: { micro_units: 1, microUnits: 1, currency: 'USD' } },
    ],
  ])('%s fails at once and names %s', async (type, field, near, input) => {
    const failed = await execute(type, input).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(WorkflowFailedError);
    expect((failed as WorkflowFailedError).cause).toMatchObject({
      type: 'InvalidInput',
      message: expect.stringMatching(new RegExp(`${field}.*${near}`)) as string,
    });
  });

  it('a decision with one is not carried out', async () => {
    const decision = {
      creationKey: 'order-9',
      sendId: 'a-send',
      decision: 'resubmit',
      by: 'me',
      reason: 'asked',
      task_id: 'x',
    };
    expect(await execute(WORKFLOW.resolveUnconfirmed, decision)).toMatchObject({
      resolved: false,
      reason: 'invalid_decision',
      message: expect.stringContaining('taskId') as string,
    });
  });

  it('the client refuses them before it starts anything', async () => {
    const { media, server } = await stack();
    type Untyped = { [method: string]: (...args: unknown[]) => Promise<unknown> };
    const [untyped, images, campaigns] = [media, media.images, media.campaigns] as unknown as [
      Untyped,
      Untyped,
      Untyped,
    ];
    const named = (text: string) => ({
      name: 'InvalidInputError',
      message: expect.stringContaining(text) as string,
    });
    await expect(
      untyped['startVideo']?.({ request: VIDEO }, { workflowId: 'order-9' }),
    ).rejects.toMatchObject(named('id'));
    await expect(untyped['startVideo']?.({ request: VIDEO, creationKey: 'order-9' })).rejects.toMatchObject(
      named('id'),
    );
    await expect(
      images['start']?.({ request: IMAGE, creation_key: 'order-9' }, { id: 'order-9' }),
    ).rejects.toMatchObject(named('creationKey'));
    await expect(images['start']?.({ request: IMAGE }, { Id: 'order-9' })).rejects.toMatchObject(named('id'));
    await expect(untyped['resume']?.('vid_1', { wait_for: '1h' })).rejects.toMatchObject(named('waitFor'));
    await expect(
      untyped['startAwait']?.({ account: 'a', taskId: 't' }, { wait_for: '1h' }),
    ).rejects.toMatchObject(named('waitFor'));
    await expect(untyped['findTask']?.('vid_1', { ask_service: true })).rejects.toMatchObject(
      named('askService'),
    );
    await expect(
      campaigns['start']?.({ manifest: { source: { file: 'm' } }, max_attempts: 1 }),
    ).rejects.toThrow('maxAttempts');
    await expect(
      campaigns['start']?.({ manifest: { source: { file: 'm' } } }, { campaign: 'spring' }),
    ).rejects.toMatchObject(named('id'));
    expect(() => new TemporalMediaClient(server.client, { task_queue: 'q' } as object)).toThrow('taskQueue');
    expect(await received()).toBe(0);
  });

  it('and nothing of all this was bought', async () => {
    const { sandbox } = await stack();
    expect(await sandbox.admin.counters()).toMatchObject({ acceptedByPromptHash: {} });
    expect(await received()).toBe(0);
  });
});
