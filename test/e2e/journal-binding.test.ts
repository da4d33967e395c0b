import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { type CreateVideoInput } from '../../src/domain/paid-call';
import { createFileJournal } from '../../src/journal/file-journal';
import { JournalBindingError } from '../../src/worker';
import { received } from '../support/accepted';
import { handMadeWorker } from '../support/hand-made-worker';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** One create queue, one journal: two could buy one video twice (failure model: The journal, assumption A1). */
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
});
