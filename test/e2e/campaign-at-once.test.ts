import { type ScheduleHandle, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { type CampaignInput } from '../../src/domain/campaign/plan';
import { type Row, storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS, testBundle } from '../support/test-bundle';
import { type plainParent } from '../support/workflows/campaign-parents';

const films = (count: number, name: string, directives = ''): Row[] =>
  Array.from({ length: count }, (_unused, n) => ({
    id: `r${n}`,
    model: 'cine-1',
    prompt: `${directives} ${name} ${n}`,
    duration: 2,
  }));

/** One id, started by several at the same moment. */
describe('campaigns under one id', () => {
  let callers: Worker | undefined;
  let running: Promise<void> | undefined;
  // Before the stack, whose connection it is on.
  afterAll(async () => {
    callers?.shutdown();
    await running;
  });
  const stack = sharedStack(
    { sandbox: { timing: { queuedMs: 0, runningMs: 300 }, videos: 'shared' } },
    async (media) => {
      await media.startWorker();
      callers = await Worker.create({
        connection: media.server.nativeConnection,
        namespace: media.server.namespace,
        taskQueue: callersOf(media),
        workflowBundle: await testBundle(TEST_WORKFLOWS),
      });
      running = callers.run();
    },
  );

  async function accepted(media: MediaStack, name: string): Promise<number> {
    const requests = await media.sandbox.admin.requests();
    return requests.filter(({ operation, status, json }) => {
      const { prompt } = (json ?? {}) as { prompt?: unknown };
      return operation === 'create' && (status ?? 0) < 300 && String(prompt).includes(name);
    }).length;
  }

  it.concurrent('started twice at the same moment: one execution, and both get its result', async () => {
    const media = await stack();
    const id = media.server.uniqueId('twice');
    const manifest = await storedManifest(media, films(3, 'at once'));
    const both = await Promise.all([1, 2].map(() => media.media.campaigns.start({ manifest }, { id })));
    expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
    const results = await Promise.all(both.map((one) => one.result()));
    expect(results[0]).toEqual(results[1]);
    expect(results[0]?.counts).toEqual({ completed: 3 });
    expect(await accepted(media, 'at once')).toBe(3);
  });

  it.concurrent('started with two manifests at the same moment: one is refused in words', async () => {
    const media = await stack();
    const id = media.server.uniqueId('differ');
    const manifests = [
      await storedManifest(media, films(2, 'differ')),
      await storedManifest(media, films(3, 'differ')),
    ];
    const both = await Promise.allSettled(
      manifests.map((manifest) => media.media.campaigns.start({ manifest }, { id })),
    );
    const refused = both.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatchObject({
      name: 'CampaignConflictError',
      message: `The ID "${id}" is already in use. It belongs to a campaign with another manifest or account. Nothing was started. Use another ID, or wait until it has ended.`,
    });
    const { plan, counts } = await media.media.campaigns.result(id);
    expect(counts).toEqual({ completed: plan.rows });
    expect(await accepted(media, 'differ')).toBe(plan.rows);
  });

  it.concurrent('what a workflow or a Schedule has started is attached to, resumed and retried by its id', async () => {
    const media = await stack();
    const id = media.server.uniqueId('scheduled');
    const rows = [
      ...films(2, 'scheduled', '[run:6s]'),
      { ...films(1, 'scheduled [http:400]')[0], id: 'bad' },
    ];
    // The format tells how to read the bytes: it makes no other campaign of them.
    const { source } = await storedManifest(media, rows);
    const schedule = await scheduled(media, id, { manifest: { source }, concurrency: 1, limit: 3 });
    try {
      const campaign = await startedBy(schedule);
      const attached = await media.media.campaigns.start(
        { manifest: { source, format: 'jsonl' } },
        { id: campaign },
      );
      expect(attached.isNew).toBe(false);
      const other = await storedManifest(media, films(1, 'another'));
      await expect(media.media.campaigns.start({ manifest: other }, { id: campaign })).rejects.toThrow(
        'It belongs to a campaign with another manifest or account.',
      );
      await eventually('the first is bought', async () => (await accepted(media, 'scheduled')) > 0);
      await media.media.campaigns.order(campaign, 'cancel');
      const cancelled = await attached.result();
      expect(cancelled.outcome).toBe('cancelled');
      const resumed = await media.media.campaigns.resume(campaign, { concurrency: 2 });
      expect(resumed.by).toBe('start');
      expect((await resumed.started.result()).counts).toEqual({ completed: 2, rejected: 1 });
      expect(await accepted(media, 'scheduled')).toBe(2);
      const retried = await media.media.campaigns.retry(campaign, ['rejected']);
      expect((await retried.started.result()).counts).toEqual({ completed: 3 });
      expect(await accepted(media, 'scheduled')).toBe(3);
    } finally {
      await schedule.delete();
    }
  });

  it.concurrent('an id that is taken by what nobody can compare with is refused in words', async () => {
    const media = await stack();
    const manifest = await storedManifest(media, films(1, 'taken'));
    const taken = async (type: string, words: string) => {
      const id = media.server.uniqueId('taken');
      const taskQueue = media.server.uniqueId('nobody');
      const handle = await media.server.client.workflow.start(type, { taskQueue, workflowId: id, args: [] });
      await expect(media.media.campaigns.start({ manifest }, { id })).rejects.toThrow(
        `The ID "${id}" is already in use. ${words} Nothing was started.`,
      );
      await handle.terminate();
      return id;
    };
    await taken('generateVideo', 'It belongs to a workflow of type generateVideo.');
    const id = await taken('runCampaign', 'The manifest and account of that campaign cannot be read here.');
    await expect(media.media.campaigns.retry(id)).rejects.toMatchObject({ name: 'CampaignUnreadableError' });
    expect(await accepted(media, 'taken')).toBe(0);
  });

  it.concurrent('resumed twice and retried twice at the same moment: each once', async () => {
    const media = await stack();
    const id = media.server.uniqueId('resumed');
    const rows = [
      ...films(2, 'resumed'),
      { ...films(1, 'resumed [http:400]')[0], id: 'bad' },
      { ...films(1, 'resumed slow [run:20s]')[0], id: 'slow' },
    ];
    const manifest = await storedManifest(media, rows);
    const first = await media.media.campaigns.start({ manifest, waitFor: '9s' }, { id });
    expect((await first.result()).counts).toEqual({ completed: 2, rejected: 1, still_running: 1 });
    const resumed = await Promise.all(
      [1, 2].map(() => media.media.campaigns.resume(id, { waitFor: '2 minutes' })),
    );
    for (const { started } of resumed)
      expect((await started.result()).counts).toEqual({ completed: 3, rejected: 1 });
    expect(await accepted(media, 'resumed')).toBe(3);
    const retried = await Promise.all([1, 2].map(() => media.media.campaigns.retry(id, ['rejected'])));
    for (const { started } of retried) expect((await started.result()).counts).toEqual({ completed: 4 });
    expect(await accepted(media, 'resumed')).toBe(4);
  });

  it.concurrent('started by a client and as a child at the same moment: one of them has it, and rows are bought once', async () => {
    const media = await stack();
    const id = media.server.uniqueId('both');
    const manifest = await storedManifest(media, films(3, 'both [run:4s]'));
    const [client, parent] = await Promise.all([
      media.media.campaigns.start({ manifest }, { id }),
      startParent(media, id, { manifest }),
    ]);
    const [byClient, byParent] = await Promise.allSettled([client.result(), parent.result()]);
    expect(byClient).toMatchObject({ status: 'fulfilled', value: { counts: { completed: 3 } } });
    const refused = {
      reason: { cause: { message: expect.stringContaining('already started') as string } },
    };
    expect(byParent).toMatchObject(client.isNew ? refused : { value: { counts: { completed: 3 } } });
    expect(await accepted(media, 'both')).toBe(3);
  });

  it.concurrent('a child whose parent is terminated goes with it; the next run under its id buys nothing twice', async () => {
    const media = await stack();
    const id = media.server.uniqueId('orphan');
    const manifest = await storedManifest(media, films(3, 'orphan [run:6s]'));
    const parent = await startParent(media, id, { manifest, concurrency: 2 });
    await eventually('two are bought', async () => (await accepted(media, 'orphan')) === 2);
    await parent.terminate('by a test');
    await eventually(
      'the campaign has ended too',
      async () => (await media.media.campaigns.describe(id)).status === 'TERMINATED',
    );
    const resumed = await media.media.campaigns.resume(id);
    expect((await resumed.started.result()).counts).toEqual({ completed: 3 });
    expect(await accepted(media, 'orphan')).toBe(3);
  });
});

/** A Schedule of campaigns that has been told to start one now. */
async function scheduled(media: MediaStack, id: string, input: CampaignInput): Promise<ScheduleHandle> {
  const schedule = await media.server.client.schedule.create({
    scheduleId: id,
    spec: {},
    action: {
      type: 'startWorkflow',
      workflowType: 'runCampaign',
      workflowId: id,
      taskQueue: media.taskQueue,
      args: [input],
    },
  });
  await schedule.trigger();
  return schedule;
}

function startedBy(schedule: ScheduleHandle): Promise<string> {
  return eventually('a start', async () => {
    const [first] = (await schedule.describe()).info.recentActions;
    return first?.action.type === 'startWorkflow' ? first.action.workflow.workflowId : undefined;
  });
}

const callersOf = ({ taskQueue }: MediaStack): string => `callers-of-${taskQueue}`;

function startParent(
  media: MediaStack,
  id: string,
  input: CampaignInput,
): Promise<WorkflowHandle<typeof plainParent>> {
  return media.server.client.workflow.start<typeof plainParent>('plainParent', {
    taskQueue: callersOf(media),
    workflowId: `${id}/parent`,
    args: [id, media.taskQueue, input],
  });
}
