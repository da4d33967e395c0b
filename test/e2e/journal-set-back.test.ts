import { cp, rename, rm } from 'node:fs/promises';
import { Client } from '@temporalio/client';
import { plainClient, readQueueBinding } from '../../src/activities/binding/bind-journal';
import { mediaJournalScheduleId, WORKFLOW } from '../../src/domain/names';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { bindJournal, JournalBindingError, type LostCalls } from '../../src/worker';
import { accepted } from '../support/accepted';
import { handMadeWorker } from '../support/hand-made-worker';
import { type MediaStack, type RunningWorker } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { testBundle } from '../support/test-bundle';

/** A journal restored from a copy has its own name, and lacks what was bought since: its queue binding knows. */
describe('a journal that was set back', () => {
  // The bundler loads its parts while it works; jest refuses that once the first of the concurrent tests has ended.
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } }, () => testBundle());

  it.concurrent('[C4.4a] is refused at the start of a worker, and guarded by a rebind that was told of it', async () => {
    const queue = await openQueue();
    const first = await queue.startWorker();
    expect(await queue.order('one')).toMatchObject({ outcome: 'completed' });
    await first.stop();
    await queue.copy();
    const second = await queue.startWorker();
    expect(await queue.order('two')).toMatchObject({ outcome: 'completed' });
    await second.stop();
    await queue.restore();

    const refused = await queue.startWorker().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JournalBindingError);
    for (const told of ['older copy', queue.bindingId, '--rebind'])
      expect((refused as Error).message).toContain(told);
    expect((refused as Error).message).not.toContain(queue.journal);

    const unwilling = queue.startWorker(() => Promise.reject(new Error('not agreed')));
    await expect(unwilling).rejects.toThrow('not agreed');
    // Nothing was taken over by that.
    await expect(queue.startWorker()).rejects.toBeInstanceOf(JournalBindingError);

    let lost: LostCalls | undefined;
    await queue.startWorker((found) => {
      lost = found;
      return Promise.resolve();
    });
    expect(lost?.calls.map(({ creationKey, created }) => [creationKey, created === undefined])).toEqual([
      [queue.key('two'), false],
    ]);
    expect(await queue.order('two')).toMatchObject({ outcome: 'completed' });
    expect(await accepted(queue.stack, queue.key('two'))).toBe(1);
  });

  it.concurrent('[C4.4a] sends nothing from a worker put together by hand', async () => {
    const queue = await openQueue();
    const first = await queue.startWorker();
    await first.stop();
    await queue.copy();
    const second = await queue.startWorker();
    expect(await queue.order('bought')).toMatchObject({ outcome: 'completed' });
    await second.stop();
    await queue.restore();
    const journal = createFileJournal({ root: queue.journal });
    const byHand = await handMadeWorker(queue.stack, { journal }, undefined, queue.taskQueue);
    const answer = await byHand.runUntil(queue.order('bought'));
    expect(answer).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    expect((answer as { message: string }).message).toContain('older copy');
    expect(await accepted(queue.stack, queue.key('bought'))).toBe(1);
  });

  it.concurrent('is not taken for one where a mark was made and its queue never heard of it', async () => {
    const queue = await openQueue();
    const first = await queue.startWorker();
    expect(await queue.order('one')).toMatchObject({ outcome: 'completed' });
    await first.stop();
    await createFileJournal({ root: queue.journal }).putMark('the worker was killed before it told');
    await queue.startWorker();
    expect(await queue.order('two')).toMatchObject({ outcome: 'completed' });
  });

  it.concurrent('[C4.4a] a queue binding that several write at once keeps what each of them said, and a rebind among them', async () => {
    const queue = await openQueue();
    const { server } = queue.stack;
    const client = new Client({ connection: server.client.connection, namespace: server.namespace });
    const journal = createFileJournal({ root: queue.journal });
    const say = (accounts: readonly string[], rebind = false) =>
      bindJournal({ client, taskQueue: queue.taskQueue, journal, accounts, mark: true, rebind });
    const bound = await say(['first']);
    const names = Array.from({ length: 12 }, (_, at) => `account-${at}`);
    const answers = await Promise.all(names.map((name) => say([name])));
    for (const [at, { accounts }] of answers.entries()) expect(accounts).toContain(names[at]);
    const after = await readQueueBinding(plainClient(client), queue.taskQueue);
    expect(after?.queueBinding).toMatchObject({ binding: bound.binding, boundSince: bound.boundSince });
    expect([...(after?.queueBinding.accounts ?? [])].sort()).toEqual([...names, 'first'].sort());
    expect(await journal.hasMark(after?.queueBinding.mark ?? '')).toBe(true);

    const [rebound] = await Promise.all([say(['taker'], true), ...names.map((name) => say([name]))]);
    const last = await readQueueBinding(plainClient(client), queue.taskQueue);
    expect(Date.parse(rebound?.boundSince ?? '')).toBeGreaterThan(Date.parse(bound.boundSince));
    expect(last?.queueBinding.boundSince).toBe(rebound?.boundSince);
    expect(last?.queueBinding.accounts).toContain('taker');
  });

  it.concurrent('[C4.4a] a queue binding that somebody has overwritten is not taken for a new one', async () => {
    const queue = await openQueue();
    await (await queue.startWorker()).stop();
    const handle = plainClient(queue.stack.server.client).getHandle(queue.bindingId);
    await handle.update(({ action, ...schedule }) => ({
      ...schedule,
      action: { ...action, args: [{ binding: null }] } as never,
    }));
    const refused = await queue.startWorker().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JournalBindingError);
    expect((refused as Error).message).toContain(
      'does not contain a queue binding because it was overwritten; delete the schedule',
    );
  });

  interface Queue {
    readonly stack: MediaStack;
    readonly taskQueue: string;
    readonly bindingId: string;
    readonly journal: string;
    key(name: string): string;
    startWorker(rebind?: (lost: LostCalls) => Promise<void>): Promise<RunningWorker>;
    copy(): Promise<void>;
    restore(): Promise<void>;
    order(name: string): Promise<unknown>;
  }

  async function openQueue(): Promise<Queue> {
    const own = await stack();
    const taskQueue = own.server.uniqueId('set-back');
    const journal = `${own.dataDir}/${taskQueue}`;
    const env = { MEDIA_TASK_QUEUE: taskQueue, MEDIA_JOURNAL: journal };
    const key = (name: string): string => `${taskQueue}-${name}`;
    return {
      stack: own,
      taskQueue,
      bindingId: mediaJournalScheduleId(taskQueue),
      journal,
      key,
      startWorker: (rebind) =>
        own.startWorker({ env, ownConnection: true, ...(rebind !== undefined && { rebind }) }),
      copy: () => cp(journal, `${journal}-copy`, { recursive: true }),
      restore: async () => {
        await rm(journal, { recursive: true });
        await rename(`${journal}-copy`, journal);
      },
      order: (name) =>
        own.server.client.workflow.execute(WORKFLOW.generateVideo, {
          taskQueue,
          workflowId: own.server.uniqueId('order'),
          args: [
            {
              request: { model: 'cine-1', prompt: key(name), durationSeconds: 2 },
              creationKey: key(name),
              startLimit: 1000,
            },
          ],
        }),
    };
  }
});
