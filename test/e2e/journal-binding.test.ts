import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, type ClientOptions, Connection } from '@temporalio/client';
import { plainClient, readQueueBinding } from '../../src/activities/binding/bind-journal';
import { ACTIVITY, mediaJournalScheduleId, WORKFLOW } from '../../src/domain/names';
import { type CreateVideoInput } from '../../src/domain/paid-call';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { bindJournal, JournalBindingError } from '../../src/worker';
import { accepted, received } from '../support/accepted';
import { newEncryption } from '../support/encryption';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** What ran on a queue since its last paid call, and was none. */
const SINCE = 60;

/** One create queue, one journal: two could buy one video twice (failure model: The log, assumption A1). */
describe('the journal of a create queue', () => {
  let stack: MediaStack;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  const otherJournal = { MEDIA_JOURNAL: '' };
  beforeAll(() => {
    otherJournal.MEDIA_JOURNAL = join(stack.dataDir, 'journal-of-another-worker');
  });

  // The first worker of the queue, and so before all others.
  it('the queue binding is bound by a worker whose bundle throws at its top level, and answers the good version after it', async () => {
    const workflowsPath = join(__dirname, '../support/throwing-workflows/index.js');
    const bad = await stack.startWorker({ media: { workflows: { workflowsPath } } });
    await bad.stop();
    const good = await stack.startWorker();
    const started = await stack.media.startVideo({
      request: { model: 'cine-1', prompt: 'after the roll-back', durationSeconds: 2 },
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    await good.stop();
  });

  it('the queue binding is a paused schedule that says what it is: no execution, and no backlog of any queue', async () => {
    const { client, namespace } = stack.server;
    const journal = createFileJournal({ root: stack.config.journal });
    // A later request changes nothing of that.
    await bindJournal({ client, taskQueue: stack.taskQueue, journal, accounts: ['another'] });
    const { state, action, info } = await client.schedule
      .getHandle(mediaJournalScheduleId(stack.taskQueue))
      .describe();
    expect(state).toMatchObject({ paused: true, note: expect.stringContaining('Never delete it') as string });
    expect(info).toMatchObject({ nextActionTimes: [], recentActions: [] });
    for (const name of [action.taskQueue, stack.taskQueue]) {
      const asked = { namespace, taskQueue: { name }, taskQueueType: 1, reportStats: true };
      const { stats } = await client.workflowService.describeTaskQueue(asked);
      expect({ name, backlog: Number(stats?.approximateBacklogCount ?? -1) }).toEqual({ name, backlog: 0 });
    }
    const { count } = await client.workflow.count(`TaskQueue = "${action.taskQueue}"`);
    expect(count).toBe(0);
  });

  it('a plugin of the connection encodes what its clients write, but not the queue binding', async () => {
    const { server, taskQueue } = stack;
    const plugin = {
      name: 'encrypts',
      configureClient: (options: ClientOptions) => ({
        ...options,
        dataConverter: { payloadCodecs: [newEncryption()] },
      }),
    };
    const connection = await Connection.connect({ address: server.address, plugins: [plugin] });
    try {
      const client = new Client({ connection, namespace: server.namespace });
      const journal = createFileJournal({ root: stack.config.journal });
      const queue = `${taskQueue}-encrypted`;
      for (const name of ['first', 'second'])
        await bindJournal({ client, taskQueue: queue, journal, accounts: [name] });
      const found = await readQueueBinding(plainClient(server.client), queue);
      expect(found?.queueBinding.accounts).toEqual(['first', 'second']);
    } finally {
      await connection.close();
    }
  });

  it('a queue binding that somebody has unpaused is paused again by whoever reads it next: the server removes an idle one', async () => {
    const handle = stack.server.client.schedule.getHandle(mediaJournalScheduleId(stack.taskQueue));
    await handle.unpause();
    const journal = createFileJournal({ root: stack.config.journal });
    const bound = await bindJournal({ client: stack.server.client, taskQueue: stack.taskQueue, journal });
    expect((await handle.describe()).state.paused).toBe(true);
    expect(bound.binding.journalId).toBe((await journal.identity()).journalId);
  });

  it('a second worker with another directory refuses to start and names the remedies', async () => {
    const first = await stack.startWorker();
    const refused = await stack.startWorker({ env: otherJournal }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JournalBindingError);
    const { message } = refused as Error;
    expect(message).toContain(stack.taskQueue);
    for (const remedy of ['MEDIA_JOURNAL', 'MEDIA_TASK_QUEUE', 'rebind']) expect(message).toContain(remedy);
    expect(message).not.toContain(stack.dataDir);
    // The refusal leaves the first worker as it was.
    const request = { model: 'cine-1', prompt: 'the first worker goes on', durationSeconds: 2 };
    const started = await stack.media.startVideo({ request });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    await first.stop();
  });

  it('refuses although the first worker has ended: the journal outlives its workers', async () => {
    await expect(stack.startWorker({ env: otherJournal })).rejects.toBeInstanceOf(JournalBindingError);
  });

  it('two workers on one directory run side by side', async () => {
    const [one, two] = await Promise.all([stack.startWorker(), stack.startWorker({ ownConnection: true })]);
    expect([one.media.worker.getState(), two.media.worker.getState()]).toEqual(['RUNNING', 'RUNNING']);
    await Promise.all([one.stop(), two.stop()]);
  });

  it('the same journal seen from another host is refused unless it is shared', async () => {
    const own = createFileJournal({ root: stack.config.journal });
    const journal = { ...own, identity: async () => ({ ...(await own.identity()), hostId: 'another-host' }) };
    const refused = await stack.startWorker({ media: { journal } }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JournalBindingError);
    expect((refused as Error).message).toContain('another host');
  });

  it('another artifact store is refused with its own remedy: what was stored before would not be found', async () => {
    const env = { MEDIA_ARTIFACTS: join(stack.dataDir, 'other-artifacts') };
    const refused = await stack.startWorker({ env }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JournalBindingError);
    const { message } = refused as Error;
    for (const told of ['MEDIA_ARTIFACTS', 'MEDIA_TASK_QUEUE', stack.taskQueue])
      expect(message).toContain(told);
    expect(message).not.toContain(stack.dataDir);
  });

  it('a journal that is gone is another journal, even at the same path', async () => {
    await rm(stack.config.journal, { recursive: true });
    await expect(stack.startWorker()).rejects.toBeInstanceOf(JournalBindingError);
  });

  it('[C4.4c] a fence of the journal that the create would have written to proves that nothing was sent', async () => {
    const prompt = 'a create that breaks before it looks into the journal';
    const worker = await breakingWorker();
    const { server } = stack;
    const run = (workflowId: string, text: string): Promise<unknown> =>
      server.client.workflow.execute(WORKFLOW.generateVideo, {
        taskQueue: worker.taskQueue,
        workflowId,
        args: [{ request: { model: 'cine-1', prompt: text, durationSeconds: 2 } }],
      });
    await worker.runUntil(async () => {
      // A create binds the queue: what was scheduled before that proves nothing.
      await run(server.uniqueId('bound'), 'the first of its queue');
      expect(await run(server.uniqueId('fence'), prompt)).toMatchObject({ outcome: 'completed' });
    });
    expect(await received(stack, prompt)).toBe(1);
  });

  /** A worker whose second create breaks before it looks into the journal. */
  function breakingWorker(): ReturnType<typeof handMadeWorker> {
    let creates = 0;
    return handMadeWorker(stack, {}, (activities) => ({
      [ACTIVITY.createVideo]: async (input: CreateVideoInput) => {
        creates += 1;
        if (creates !== 2) return activities[ACTIVITY.createVideo](input);
        throw new Error('broken before it began');
      },
    }));
  }

  it('rebind takes the queue over, and the former journal is refused from then on', async () => {
    const taker = await stack.startWorker({ env: otherJournal, rebind: true });
    expect(taker.media.worker.getState()).toBe('RUNNING');
    await expect(stack.startWorker({ ownConnection: true })).rejects.toBeInstanceOf(JournalBindingError);
    const again = await stack.startWorker({ env: otherJournal, ownConnection: true });
    await Promise.all([taker.stop(), again.stop()]);
  });

  // Two journals on one queue buy one video twice, whoever made the workers: the binding is looked at where money is spent.
  it('[C4.4a] a worker put together by hand buys nothing on a queue that creates with another journal, and says what to do', async () => {
    const taskQueue = stack.server.uniqueId('by-hand');
    const prompt = 'one video, two journals';
    expect(await order(taskQueue, 'one', prompt)).toMatchObject({ outcome: 'completed' });
    const refused = await order(taskQueue, 'two', prompt);
    expect(await accepted(stack, prompt)).toBe(1);
    expect(refused).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    const { message } = refused as { message: string };
    for (const told of [`media-journal/${taskQueue}`, taskQueue, 'MEDIA_JOURNAL', 'rebind'])
      expect(message).toContain(told);
    expect(message).not.toContain(stack.dataDir);
  });

  it('[C4.4a] a worker put together by hand finds what its own journal holds, in a later one too', async () => {
    const taskQueue = stack.server.uniqueId('by-hand');
    const prompt = 'one video, one journal';
    expect(await order(taskQueue, 'same', prompt)).toMatchObject({ outcome: 'completed' });
    expect(await order(taskQueue, 'same', prompt)).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
  });

  it('[C4.4a] a queue whose binding was deleted is not taken for a new one, however much ran on it since', async () => {
    const { server } = stack;
    const { namespace } = server;
    const worker = await handMadeWorker(stack);
    const { taskQueue } = worker;
    const workflowId = server.uniqueId('bought');
    const request = { model: 'cine-1', prompt: 'bought long ago', durationSeconds: 2 };
    const bought: unknown = await worker.runUntil(
      server.client.workflow.execute(WORKFLOW.generateVideo, { taskQueue, workflowId, args: [{ request }] }),
    );
    expect(bought).toMatchObject({ outcome: 'completed' });
    const binding = server.client.schedule.getHandle(mediaJournalScheduleId(taskQueue));
    await binding.delete();
    await Promise.all(
      Array.from({ length: SINCE }, () =>
        server.client.workflow.start('somethingElse', { taskQueue, workflowId: randomUUID() }),
      ),
    );
    await eventually('what ran since, and no binding', async () => {
      const { count } = await server.client.workflow.count(`TaskQueue = "${taskQueue}"`);
      const gone = await binding.describe().catch(() => 'gone' as const);
      return count > SINCE && gone === 'gone';
    });
    const journal = createFileJournal({ root: join(stack.dataDir, 'another') });
    const client = new Client({ connection: server.client.connection, namespace });
    const refused: unknown = await bindJournal({ client, taskQueue, journal }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(JournalBindingError);
    expect((refused as Error).message).toContain(workflowId);
  });

  /** One order by a worker of its own with the journal of that name, always under the same key. */
  async function order(taskQueue: string, journal: string, prompt: string): Promise<unknown> {
    const root = join(stack.dataDir, taskQueue, journal);
    const worker = await handMadeWorker(
      stack,
      { journal: createFileJournal({ root }) },
      undefined,
      taskQueue,
    );
    return worker.runUntil(
      stack.server.client.workflow.execute(WORKFLOW.generateVideo, {
        taskQueue,
        workflowId: stack.server.uniqueId('order'),
        args: [
          {
            request: { model: 'cine-1', prompt, durationSeconds: 2 },
            creationKey: taskQueue,
            startLimit: 1000,
          },
        ],
      }),
    );
  }
});
