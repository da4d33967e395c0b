import { cp, rename, rm } from 'node:fs/promises';
import { mediaJournalScheduleId, WORKFLOW } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { type CrashingWorker, startCrashingWorker } from '../support/crashing-process';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';

/**
 * "Not sent" is proved by the journal that the create wrote to, and by no other: lost, exchanged or restored under a create
 * that was on its way, nothing is sent a second time without a person's word. Journals that are lost, restored or exchanged
 * while their queue binding is there are struck at every point of a create by test/proof/kill-points.test.ts.
 */
describe('a create under way whose journal is', () => {
  const stack = sharedStack({}, async () => undefined);

  it.concurrent('[C4.4c] another one, after its queue binding was deleted', async () => {
    const lost = await underWay('[lost-reply:stall] a binding deleted');
    await lost.stack.server.client.schedule.getHandle(mediaJournalScheduleId(lost.worker.taskQueue)).delete();
    await lost.worker.startSuccessor({ journal: `${lost.worker.journal}-other`, rebind: true });
    await endsUnconfirmed(lost);
  });

  it.concurrent('[C4.4c] its own as it was before the create, restored from a copy', async () => {
    const backup = async ({ journal, media }: CrashingWorker) => {
      // Within the hour the queue binding gets no later mark: the copy is taken for the journal itself.
      const request = { model: 'cine-1', prompt: 'before the copy', durationSeconds: 2 };
      await (await media.startVideo({ request })).result();
      await cp(journal, `${journal}-copy`, { recursive: true });
    };
    const lost = await underWay('[lost-reply:stall] a copy restored', backup);
    await rm(lost.worker.journal, { recursive: true });
    await rename(`${lost.worker.journal}-copy`, lost.worker.journal);
    await lost.worker.startSuccessor();
    await endsUnconfirmed(lost);
  });

  it.concurrent('[C4.4c] lost with the disk, and its workflow was terminated before', async () => {
    const own = await stack();
    const worker = await startCrashingWorker(own);
    const prompt = '[lost-reply:stall] terminated';
    const buy = () =>
      own.server.client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue: worker.taskQueue,
        workflowId: own.server.uniqueId('order'),
        args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 }, creationKey: worker.taskQueue }],
      });
    const first = await buy();
    await eventually('the create', async () => (await accepted(own, prompt)) === 1);
    await worker.kill();
    await first.terminate('nobody waits for it');
    await rm(worker.journal, { recursive: true });
    await worker.startSuccessor({ rebind: true });
    expect(await (await buy()).result()).toMatchObject({ outcome: 'unconfirmed' });
    expect(await accepted(own, prompt)).toBe(1);
  });

  it.concurrent('[C4.4a] set back to a time before a finished create: after a rebind its id finds its video', async () => {
    const own = await stack();
    const prompt = 'finished after the copy';
    const env = { MEDIA_TASK_QUEUE: own.server.uniqueId('set-back') };
    const journal = { ...env, MEDIA_JOURNAL: `${own.dataDir}/${env.MEDIA_TASK_QUEUE}` };
    const order = (): Promise<unknown> =>
      own.server.client.workflow.execute(WORKFLOW.generateVideo, {
        taskQueue: env.MEDIA_TASK_QUEUE,
        workflowId: own.server.uniqueId('order'),
        args: [
          { request: { model: 'cine-1', prompt, durationSeconds: 2 }, creationKey: env.MEDIA_TASK_QUEUE },
        ],
      });
    const first = await own.startWorker({ env: journal, ownConnection: true });
    await cp(journal.MEDIA_JOURNAL, `${journal.MEDIA_JOURNAL}-copy`, { recursive: true });
    expect(await order()).toMatchObject({ outcome: 'completed' });
    await first.stop();
    await rm(journal.MEDIA_JOURNAL, { recursive: true });
    await rename(`${journal.MEDIA_JOURNAL}-copy`, journal.MEDIA_JOURNAL);
    await own.startWorker({ env: journal, ownConnection: true, rebind: true });
    expect(await order()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(own, prompt)).toBe(1);
  });

  interface Lost {
    readonly stack: MediaStack;
    readonly worker: CrashingWorker;
    readonly prompt: string;
    readonly result: () => Promise<unknown>;
  }

  /** A worker killed in the moment in which the service has accepted its create. */
  async function underWay(prompt: string, before?: (worker: CrashingWorker) => Promise<void>): Promise<Lost> {
    const own = await stack();
    const worker = await startCrashingWorker(own);
    await before?.(worker);
    const started = await worker.media.startVideo({
      request: { model: 'cine-1', prompt, durationSeconds: 2 },
    });
    await eventually('the create', async () => (await accepted(own, prompt)) === 1);
    await worker.kill();
    return { stack: own, worker, prompt, result: () => started.result() };
  }

  async function endsUnconfirmed({ stack: own, prompt, result }: Lost): Promise<void> {
    expect(await result()).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'journal_changed' },
      billing: { state: 'needs_review' },
    });
    expect(await accepted(own, prompt)).toBe(1);
  }
});
