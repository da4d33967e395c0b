import { type CreateJournal, NO_JOURNAL } from '../../src/domain/journal';
import { RECORDED_BY_ANOTHER_RUN } from '../../src/domain/names';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, fenceEntry, intentEntry } from '../support/log-entries';
import { afterReset } from '../support/schedule';
import { type LogBench, openLogBench, traceOf } from './log-bench';

/** How the first append of an intent ends. */
type Ambiguity =
  | 'written, then fails'
  | 'written, then says lost'
  | 'fails unwritten'
  | 'taken by another request';

/** A real journal whose first append ends ambiguously, as a store behind a network may. */
function ambiguous(journal: CreateJournal, ambiguity: Ambiguity): CreateJournal {
  return {
    ...journal,
    append: async (key, n, entry) => {
      if (n > 0) return journal.append(key, n, entry);
      if (ambiguity === 'taken by another request') {
        await journal.append(key, n, intentEntry({ ...key, nonce: 'theirs', fingerprint: 'another' }));
        return journal.append(key, n, entry);
      }
      if (ambiguity !== 'fails unwritten') await journal.append(key, n, entry);
      if (ambiguity === 'written, then says lost') return 'lost';
      throw new Error('the store did not answer');
    },
  };
}

/** A real journal into whose log others write before the first entry that this caller appends at `n`. */
function raced(bench: LogBench, n: number, before: () => Promise<void>): CreateJournal {
  let isFirst = true;
  return {
    ...bench.journal,
    append: async (key, at, entry) => {
      if (at === n && isFirst) {
        isFirst = false;
        await before();
      }
      return bench.journal.append(key, at, entry);
    },
  };
}

describe('one send of one key', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
  });
  afterEach(() => bench.close());

  it('[C4.4b] writes its intent before, its answer after, and then tells it', async () => {
    bench.onCreate = async () => expect(await bench.kinds()).toEqual(['intent']);
    const answer = await bench.create({ sender: 'ours' });
    expect(answer).toMatchObject({ outcome: 'created', sendAttempt: 0, sent: true });
    const [intent, recorded] = await bench.log();
    expect(intent).toMatchObject({ kind: 'intent', sender: 'ours', runId: 'run', creationKey: 'order-1' });
    const nonce = intent?.kind === 'intent' ? intent.nonce : '';
    expect(recorded).toMatchObject({ kind: 'answer', nonce, answer: { outcome: 'created' } });
    expect(await bench.journal.findTask('video_1')).toMatchObject([
      { creationKey: 'order-1', sendAttempt: 0 },
    ]);
  });

  describe('where its intent is in doubt', () => {
    const create = (ambiguity: Ambiguity, sender: string): Promise<CreateVideoAnswer> =>
      bench.create({ sender }, {}, { journal: ambiguous(bench.journal, ambiguity) });

    it('[C4.4a] sends nothing under it, and the next activity sends once', async () => {
      expect(await create('written, then fails', 'first')).toMatchObject({
        outcome: 'not_sent',
        cause: 'journal_unavailable',
        sendAttempt: 0,
        sendAttemptUsed: true,
        permanent: false,
      });
      expect(bench.posts()).toBe(0);
      expect(await create('written, then fails', 'second')).toMatchObject({
        outcome: 'created',
        sendAttempt: 1,
        sent: true,
      });
      expect(bench.posts()).toBe(1);
      // Whoever comes later finds the video behind the send that was given up.
      expect(await create('written, then fails', 'third')).toMatchObject({ outcome: 'created', sent: false });
      expect(bench.posts()).toBe(1);
    });

    it('[C4.4a] sends nothing where it was not written', async () => {
      expect(await create('fails unwritten', 'first')).toMatchObject({
        outcome: 'not_sent',
        cause: 'journal_unavailable',
        sendAttemptUsed: false,
      });
      expect(await bench.kinds()).toEqual([]);
      expect(bench.posts()).toBe(0);
    });

    it('[C4.4a] that another request has written just now is a conflict, not a send to wait for', async () => {
      expect(await create('taken by another request', 'first')).toMatchObject({
        outcome: 'rejected',
        reason: 'creation_key_conflict',
        sent: false,
      });
      expect(bench.posts()).toBe(0);
    });

    it('[C4.4a] of our own is sent on once', async () => {
      expect(await create('written, then says lost', 'first')).toMatchObject({
        outcome: 'created',
        sent: true,
      });
      expect(bench.posts()).toBe(1);
    });
  });

  describe('whose position was taken', () => {
    it('[C4.4a] of two senders at once one sends; the other answers what stands', async () => {
      const made = await Promise.all(['one', 'two', 'three'].map((sender) => bench.create({ sender })));
      expect(made.filter(({ outcome, sent }) => outcome === 'created' && sent)).toHaveLength(1);
      for (const { outcome, sent } of made)
        expect(sent || ['created', 'pending'].includes(outcome)).toBe(true);
      expect(bench.posts()).toBe(1);
    });

    it('[C4.4a] by another send never sends in this try, although the key is free again by then', async () => {
      bench.replies = [{ status: 429 }, { status: 200 }];
      const journal = raced(bench, 0, async () => {
        expect(await bench.create({ sender: 'theirs' })).toMatchObject({ outcome: 'refused_for_now' });
      });
      expect(await bench.create({ sender: 'ours' }, {}, { journal })).toMatchObject({
        outcome: 'not_sent',
        cause: 'overtaken',
        sendAttempt: 1,
        sendAttemptUsed: false,
        permanent: false,
      });
      expect(bench.posts()).toBe(1);
      expect(await bench.create({ sender: 'the next' })).toMatchObject({
        outcome: 'created',
        sendAttempt: 1,
      });
      expect(bench.posts()).toBe(2);
    });

    it('[C4.4a] by a send that has bought gets its task', async () => {
      const journal = raced(bench, 0, async () => void (await bench.create({ sender: 'theirs' })));
      expect(await bench.create({ sender: 'ours' }, {}, { journal })).toMatchObject({
        outcome: 'created',
        sent: false,
      });
      expect(bench.posts()).toBe(1);
    });

    it('[C4.4a] by a fence of its own sender sends nothing, in this try or another', async () => {
      const journal = raced(bench, 0, () => bench.write(fenceEntry({ sender: 'ours' })));
      expect(await bench.create({ sender: 'ours' }, {}, { journal })).toMatchObject({ outcome: 'not_sent' });
      expect(await bench.create({ sender: 'ours' })).toMatchObject({ outcome: 'not_sent', cause: 'fenced' });
      expect(bench.posts()).toBe(0);
      // A fence is about its sender alone.
      expect(await bench.create({ sender: 'another' })).toMatchObject({ outcome: 'created' });
    });

    it('[C4.4c] a later try proves nothing about an earlier one that may live', async () => {
      bench.replies = [{ status: 429 }, { status: 200 }];
      const theirs = async () => void (await bench.create({ sender: 'theirs' }));
      const later = afterReset(Date.now());
      expect(
        await bench.create({ sender: 'ours' }, later, { journal: raced(bench, 0, theirs) }),
      ).toMatchObject({
        outcome: 'pending',
      });
      const unreadable = raced(bench, 2, async () => {
        await bench.write(fenceEntry({ sender: 'nobody' }));
        jest.spyOn(unreadable, 'read').mockRejectedValue(new Error('EIO'));
      });
      expect(await bench.create({ sender: 'ours too' }, later, { journal: unreadable })).toMatchObject({
        outcome: 'pending',
      });
      expect(bench.posts()).toBe(1);
    });
  });

  describe('after an operator has reset its activity', () => {
    it('[C4.4a] never sends what its earlier try has sent, although it is the first attempt again', async () => {
      bench.replies = [{ status: 400 }, { status: 200 }];
      const first = await bench.create({ sender: 'ours' });
      expect(first).toMatchObject({ outcome: 'rejected', sent: true });
      expect(await bench.create({ sender: 'ours' }, afterReset(Date.now()))).toMatchObject({
        outcome: 'rejected',
        sent: false,
      });
      expect(bench.posts()).toBe(1);
    });

    it('[C4.4c] leaves an earlier try that stands open to the reconciliation', async () => {
      const sendWindowEnd = new Date(Date.now() + 60_000).toISOString();
      await bench.write(intentEntry({ sender: 'ours', fingerprint: null, sendWindowEnd }));
      const answer = await bench.create({ sender: 'ours' }, afterReset(Date.now()));
      expect(answer).toMatchObject({ outcome: 'pending', announced: 'ours', sent: false });
      expect(bench.posts()).toBe(0);
    });

    it('[C4.4c] notes a send of unknown fate where a worker with an earlier journal may have had it', async () => {
      const now = Date.now();
      const checkBinding = async () =>
        ({ bound: true, journalId: 'new', boundSince: new Date(now - 500).toISOString() }) as const;
      // Scheduled before that, and tried again after: its number and its heartbeat are gone.
      const ours = () => bench.create({ sender: 'ours' }, afterReset(now, 1_000), { checkBinding });
      const unknown = { outcome: 'unconfirmed', evidence: { cause: 'journal_changed', sendId: 'ours' } };
      expect(await ours()).toMatchObject(unknown);
      expect(await ours()).toMatchObject(unknown);
      expect(await bench.kinds()).toEqual(['lost']);
      expect(bench.posts()).toBe(0);
    });

    it('sends where no call can have been sent with another journal', async () => {
      expect(await bench.create({ sender: 'ours' }, afterReset(Date.now()))).toMatchObject({
        outcome: 'created',
        sent: true,
      });
    });

    it('[C4.4c] an attempt that was announced and is not in this log is noted once, and decided once', async () => {
      const later = { attempt: 2, heartbeatDetails: { intent: 'unseen' } };
      const unknown = { outcome: 'unconfirmed', evidence: { cause: 'journal_changed', sendId: 'unseen' } };
      expect(await bench.create({ sender: 'ours' }, later)).toMatchObject(unknown);
      expect(await bench.reconcile(traceOf('ours', 'unseen'))).toMatchObject(unknown);
      expect(await bench.kinds()).toEqual(['lost']);
      await bench.write(decisionEntry({ about: 'unseen' }));
      // The activity whose send was decided proves nothing; its workflow goes by the decision.
      expect(await bench.create({ sender: 'ours' }, later)).toMatchObject({ outcome: 'pending' });
      expect(await bench.reconcile(traceOf('ours', 'unseen'))).toMatchObject({
        outcome: 'not_sent',
        cause: 'decided',
        sendAttemptUsed: false,
        mayBeOwed: true,
      });
      expect(await bench.kinds()).toEqual(['lost', 'decision']);
      expect(await bench.create({ sender: 'the next' })).toMatchObject({
        outcome: 'created',
        mayBeOwed: true,
      });
      expect(bench.posts()).toBe(1);
    });

    it('[C4.4b] a later try passes on the task that an earlier one has bought, where the log has none', async () => {
      const later = { attempt: 2, heartbeatDetails: { intent: 'ours', taskId: 'video_9' } };
      for (const write of [[], [intentEntry({ sender: 'ours', fingerprint: null })]]) {
        await bench.write(...write);
        const answer = await bench.create({ sender: 'ours' }, later);
        expect(answer).toMatchObject({ outcome: 'pending', announced: 'ours', taskId: 'video_9' });
      }
      const trace = { ...traceOf('ours', 'ours').trace, taskId: 'video_9' };
      const bought = { outcome: 'created', video: { taskId: 'video_9' } };
      expect(await bench.reconcile({ trace })).toMatchObject(bought);
      expect(await bench.create({ sender: 'ours' }, later)).toMatchObject({ outcome: 'created' });
      expect(bench.posts()).toBe(0);
    });

    it('[C4.4c] is noted beside another send of unknown fate: each waits for its own decision', async () => {
      await bench.write(
        intentEntry({ nonce: 'known', sender: 'theirs', fingerprint: null }),
        answerEntry(answers.unconfirmed(0), { nonce: 'known' }),
      );
      const found = { outcome: 'unconfirmed', evidence: { sendId: 'unseen' } };
      const later = { attempt: 2, heartbeatDetails: { intent: 'unseen' } };
      expect(await bench.create({ sender: 'ours' }, later)).toMatchObject(found);
      expect(await bench.reconcile(traceOf('ours', 'unseen'))).toMatchObject(found);
      await bench.write(decisionEntry({ about: 'known' }));
      expect(await bench.create({ sender: 'the next' })).toMatchObject({
        outcome: 'unconfirmed',
        sent: false,
      });
      await bench.write(decisionEntry({ about: 'unseen' }));
      expect(await bench.create({ sender: 'the next' })).toMatchObject({ outcome: 'created', sent: true });
      expect(bench.posts()).toBe(1);
    });
  });

  describe('for a caller that wants what is recorded', () => {
    const read = (): Promise<CreateVideoAnswer> =>
      bench.create({ sender: 'a reader', recordedOnly: true }, {});

    it('goes past fences of others, to whatever stands, and writes and sends nothing', async () => {
      await bench.write(fenceEntry({ sender: 'one' }), fenceEntry({ sender: 'two' }));
      const nothing = await read();
      expect(nothing).toMatchObject({ outcome: 'not_sent', cause: 'not_recorded' });
      expect(nothing).not.toHaveProperty('mayBeOwed');
      const sendWindowEnd = new Date(Date.now() + 60_000).toISOString();
      await bench.write(intentEntry({ fingerprint: null, sendWindowEnd }));
      expect(await read()).toMatchObject({ outcome: 'pending', sendAttempt: 0 });
      await bench.write(answerEntry());
      expect(await read()).toMatchObject({ outcome: 'created', sent: false });
      expect(bench.posts()).toBe(0);
    });

    it('[C7.10] says that money may be owed where a person had it sent again', async () => {
      await bench.write(
        intentEntry({ fingerprint: null }),
        answerEntry(answers.unconfirmed(0)),
        decisionEntry(),
      );
      expect(await read()).toMatchObject({ outcome: 'not_sent', mayBeOwed: true });
    });
  });

  it('without a journal sends in its only try, and tells what the service answered', async () => {
    bench.replies = [{ status: 429 }, { status: 200 }];
    const once = { retryPolicy: { maximumAttempts: 1 } };
    const create = () => bench.create({}, once, { journal: NO_JOURNAL });
    expect(await create()).toMatchObject({ outcome: 'refused_for_now', sent: true, sendAttempt: 0 });
    expect(await create()).toMatchObject({ outcome: 'created', sent: true, sendAttempt: 0 });
    expect(await bench.kinds()).toEqual([]);
  });

  it('[C4.4c] an unread journal at the first try says that nothing was sent, at a later one nothing', async () => {
    const journal = { ...bench.journal, read: () => Promise.reject(new Error('EIO')) };
    expect(await bench.create({}, {}, { journal })).toMatchObject({ outcome: 'not_sent' });
    expect(await bench.create({}, afterReset(Date.now()), { journal })).toMatchObject({ outcome: 'pending' });
  });

  describe('on a worker that lacks the account of the call', () => {
    const ofAnotherRun = { workflowExecution: { workflowId: 'wf', runId: 'another run' } };
    const without = { sender: 'second', account: 'studio' };

    it('[C7.10] what another run has bought under the key is not told as free', async () => {
      await bench.create({ sender: 'first' });
      const answer = await bench.create(without, ofAnotherRun);
      expect(answer).toMatchObject({
        outcome: 'not_sent',
        reason: 'account_not_configured',
        mayBeOwed: true,
      });
    });

    it('[C4.4a] a request of another run in flight is not taken for its own', async () => {
      let pending: CreateVideoAnswer | undefined;
      bench.onCreate = async () => {
        pending = await bench.create(
          { ...without, request: { model: 'm', prompt: 'another request' } },
          ofAnotherRun,
        );
      };
      await bench.create({ sender: 'first' });
      expect(pending).toMatchObject({ outcome: 'pending' });
      expect(pending).not.toHaveProperty('fingerprint');
      const { announced } = pending as { announced: string };
      const found = await bench.reconcile(
        traceOf('second', announced, new Date().toISOString()),
        ofAnotherRun,
      );
      expect(found).toMatchObject({ outcome: 'not_sent', cause: RECORDED_BY_ANOTHER_RUN });
    });
  });
});
