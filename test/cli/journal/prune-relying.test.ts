import { join } from 'node:path';
import { type Info } from '@temporalio/activity';
import { type Pruned, pruneJournal } from '../../../packages/cli/src/journal/prune-journal';
import { NO_JOURNAL } from '../../../src/domain/journal';
import { type SenderEntry } from '../../../src/domain/log-entries';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { createFileRecords } from '../../../src/stores/journal/file-journal';
import { type RecordStore } from '../../../src/stores/journal/record-store';
import { type LogBench, openLogBench, REQUEST, traceOf } from '../../activities/log-bench';
import { answers } from '../../domain/create-answers';
import { answerEntry, decisionEntry, intentEntry, lostEntry } from '../../support/log-entries';

const BOUGHT = { outcome: 'created', video: { taskId: 'video_1' } };

/** Whoever was given a purchase that another workflow made asks for its key again when it is reset. */
describe('pruning a key whose purchase a later workflow relies on', () => {
  let bench: LogBench;
  /** Workflows that the server still has. */
  let kept: string[];
  beforeEach(async () => {
    bench = await openLogBench();
    kept = [];
  });
  afterEach(() => bench.close());

  const run = (workflowId: string, runId = `a run of ${workflowId}`) => ({
    workflowExecution: { workflowId, runId },
  });
  const buy = (workflowId: string, input: Parameters<LogBench['create']>[0] = {}, runId?: string) =>
    bench.create({ sender: `${workflowId}/1`, ...input }, run(workflowId, runId));

  const records = (): RecordStore => createFileRecords({ root: join(bench.folder, 'journal') });

  const inUse = async ({ workflowId, ancestors = [] }: SenderEntry) =>
    [workflowId, ...ancestors].some((id) => id !== null && kept.includes(id));
  const prune = (store = records()): Promise<Pruned> =>
    pruneJournal({ records: store, before: new Date(Date.now() + 1_000), dryRun: false, inUse });

  it('[C4.4a] keeps it while the server has that one, which is then given the same purchase', async () => {
    await buy('first');
    expect(await buy('second')).toMatchObject({ ...BOUGHT, sent: false });
    kept = ['second'];
    expect(await prune()).toMatchObject({ removed: 0, keptRunning: 1 });
    expect(await buy('second', { sender: 'of the reset' }, 'after a reset')).toMatchObject(BOUGHT);
    expect(bench.posts()).toBe(1);
    kept = [];
    expect(await prune()).toMatchObject({ removed: 1 });
  });

  it('[C4.4a] keeps it while the server has one above that one', async () => {
    await buy('first', { ancestors: ['campaign'] });
    // Its parent is known, and may be forgotten before it: it was abandoned, or started by another one as well.
    await buy('second', { ancestors: ['campaign', 'root'] });
    for (const id of ['campaign', 'second', 'root']) {
      kept = [id];
      expect(await prune()).toMatchObject({ removed: 0, keptRunning: 1 });
    }
  });

  it('[C4.4a] keeps it where the reconciliation has told of it', async () => {
    await buy('first');
    expect(await bench.reconcile({ ...traceOf('lost'), fingerprint: null }, run('second'))).toMatchObject(
      BOUGHT,
    );
    kept = ['second'];
    expect(await prune()).toMatchObject({ removed: 0, keptRunning: 1 });
  });

  it('[C4.4a] keeps it where a person has decided since about the unknown fate that was told', async () => {
    bench.replies = [{ status: 500 }];
    expect(await buy('first')).toMatchObject({ outcome: 'unconfirmed' });
    expect(await buy('second')).toMatchObject({ outcome: 'unconfirmed' });
    const about = (await bench.state()).sends[0]!.sent.nonce;
    await bench.write(decisionEntry({ about, decision: 'adopt', answer: answers.created(0) }));
    kept = ['second'];
    expect(await prune()).toMatchObject({ removed: 0, keptRunning: 1 });
  });

  it('[C4.4a] keeps a key that was declared lost while the server has whoever was told', async () => {
    const answer = answers.rejected(0, 'declared_lost');
    await bench.write(
      lostEntry({ workflowId: 'first', fingerprint: null }),
      decisionEntry({ decision: 'declareLost', answer }),
    );
    const told = { outcome: 'rejected', reason: 'declared_lost' };
    // In a retry of the same activity as well.
    for (const _ of [1, 2]) expect(await buy('second')).toMatchObject(told);
    kept = ['second'];
    expect(await prune()).toMatchObject({ removed: 0, keptRunning: 1 });
  });

  it('grows by one entry for each workflow, not for each call of it', async () => {
    await buy('first');
    for (const sender of ['one', 'two', 'three']) await buy('second', { sender });
    await bench.reconcile({ ...traceOf('four'), fingerprint: null }, run('second'));
    await buy('first', { sender: 'again' });
    await buy('second', { sender: 'a reader', recordedOnly: true });
    expect(await bench.kinds()).toEqual(['intent', 'answer', 'fence']);
    expect((await bench.log())[2]).toMatchObject({
      sender: 'one',
      namespace: 'default',
      workflowId: 'second',
    });
  });

  it('names an activity that no workflow has scheduled by its id', async () => {
    await buy('first');
    const alone = {
      activityId: 'order-7',
      workflowExecution: undefined,
      inWorkflow: false,
    } as unknown as Partial<Info>;
    for (const sender of ['one', 'two']) await bench.create({ sender }, alone);
    expect((await bench.log()).slice(2)).toMatchObject([
      { kind: 'fence', workflowId: null, activityId: 'order-7' },
    ]);
  });

  it('writes nothing for a refusal, for another request, or where nothing is kept', async () => {
    await bench.write(
      intentEntry({ workflowId: 'first', runId: 'other', fingerprint: null }),
      answerEntry(answers.rejected(0, 'invalid_request')),
    );
    expect(await buy('second')).toMatchObject({ outcome: 'rejected', reason: 'invalid_request' });
    expect(await bench.kinds()).toEqual(['intent', 'answer']);
    await bench.write(
      intentEntry({ nonce: 'next', workflowId: 'first' }),
      answerEntry(undefined, { nonce: 'next' }),
    );
    const another = { request: { ...REQUEST, prompt: 'another' } };
    expect(await buy('second', another)).toMatchObject({
      outcome: 'rejected',
      reason: 'creation_key_conflict',
    });
    expect(await bench.kinds()).toEqual(['intent', 'answer', 'intent', 'answer']);
    const once = { ...run('third'), retryPolicy: { maximumAttempts: 1 } };
    expect(await bench.create({}, once, { journal: NO_JOURNAL })).toMatchObject({ sent: true });
    expect(await bench.kinds()).toHaveLength(4);
  });

  it('tells nothing where the journal does not take the entry: it is tried again', async () => {
    await buy('first');
    const journal = { ...bench.journal, append: () => Promise.reject(new Error('EIO')) };
    const down = { outcome: 'not_sent', cause: 'journal_unavailable', sent: false, permanent: false };
    expect(await bench.create({ sender: 'two' }, run('second'), { journal })).toMatchObject(down);
    const reconciled = bench.reconcile({ ...traceOf('two'), fingerprint: null }, run('second'), { journal });
    await expect(reconciled).rejects.toThrow('cannot be read or written');
    expect(bench.posts()).toBe(1);
  });

  it('reads again where another entry was first', async () => {
    await buy('first');
    let others = 0;
    const append: typeof bench.journal.append = async (key, n, entry) => {
      if (others++ === 0) await buy('third');
      return bench.journal.append(key, n, entry);
    };
    const journal = { ...bench.journal, append };
    expect(await bench.create({ sender: 'two' }, run('second'), { journal })).toMatchObject(BOUGHT);
    expect((await bench.log()).slice(2)).toMatchObject([{ workflowId: 'third' }, { workflowId: 'second' }]);
  });

  it('[C4.4a] of a prune that is under way and whoever is given the purchase, one succeeds', async () => {
    const outcomes = new Set<string>();
    for (let cut = 0; ; cut += 1) {
      await rmKeys();
      const before = bench.posts();
      await buy('first');
      let steps = 0;
      const told: CreateVideoAnswer[] = [];
      const meanwhile = async (): Promise<void> => {
        if (steps++ === cut) told.push(await buy('second'));
      };
      const store = records();
      const { removed } = await prune({
        ...store,
        create: async (name, text) => (await meanwhile(), store.create(name, text)),
        remove: async (name) => (await meanwhile(), store.remove(name)),
      });
      const [answer] = told;
      if (answer === undefined) {
        const all = ['created false', 'created true', 'not_sent false', 'pending false'];
        expect([...outcomes].sort()).toEqual(all);
        return;
      }
      outcomes.add(`${answer.outcome} ${answer.sent}`);
      // Given the purchase, it finds it again; else it was not told of it yet, or has bought its own.
      if (answer.outcome === 'created' && !answer.sent) expect(removed).toBe(0);
      else if (answer.outcome !== 'created') expect([removed, bench.posts() - before]).toEqual([1, 1]);
      if (answer.outcome === 'created')
        expect(await buy('second', { sender: 'x' })).toMatchObject({ video: answer.video });
    }
  });

  async function rmKeys(): Promise<void> {
    const store = records();
    for (const name of await store.names('keys/', null, 100)) await store.remove(name);
  }
});
