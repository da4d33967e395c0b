import { ApplicationFailure } from '@temporalio/common';
import { type PaidDeps } from '../../src/activities/paid-context';
import { PERHAPS } from '../../src/domain/create-heartbeat';
import { type CreateJournal, NO_JOURNAL } from '../../src/domain/journal';
import { type LogEntry, type RecordedAnswer } from '../../src/domain/log-entries';
import { type CreateVideoAnswer, evidence, type ReconcileCreateInput } from '../../src/domain/paid-call';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, intentEntry, lostEntry } from '../support/log-entries';
import { type LogBench, openLogBench, traceOf } from './log-bench';

const { fingerprint } = intentEntry();
const LATER = new Date(Date.now() + 60_000).toISOString();

describe('media.reconcileCreate', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
  });
  afterEach(() => bench.close());

  const created: RecordedAnswer = answers.created(0);
  const refused: RecordedAnswer = answers.rejected(0, 'credentials');

  /** A send of the activity that has the name of its run; its window is over unless said otherwise. */
  async function record(runId: string, answer?: RecordedAnswer, windowEnd = 0): Promise<void> {
    const sendWindowEnd = new Date(windowEnd).toISOString();
    await bench.write(intentEntry({ nonce: runId, sender: runId, runId, sendWindowEnd }));
    if (answer !== undefined) await bench.write(answerEntry(answer, { nonce: runId }));
  }

  const reconcile = (
    runId: string,
    input: Partial<ReconcileCreateInput> = {},
    changes: Partial<PaidDeps> = {},
  ): Promise<CreateVideoAnswer> =>
    bench.reconcile(
      { ...traceOf(runId), ...input },
      { workflowExecution: { workflowId: 'wf', runId } },
      changes,
    );

  describe('a send that this journal did not see', () => {
    it('[C4.4c] is not looked for in records: no task could be told to be it', async () => {
      await bench.write(lostEntry({ nonce: 'first', sender: 'first', runId: 'first' }));
      const find = jest.fn(async () => ({ found: 'none' }) as const);
      const taskRecords = { longestRequestMs: 1000, find };
      const answer = await reconcile('first', { policy: { onAbsent: 'resend' } }, { taskRecords });
      expect(answer).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 0 });
      expect(find).not.toHaveBeenCalled();
    });

    it('[C4.4c] is of every run of its key: nobody can tell whose it was', async () => {
      await bench.write(lostEntry({ nonce: 'first', runId: 'first', fingerprint: null }));
      const lost = { outcome: 'unconfirmed', sendAttempt: 0, sent: true };
      expect(await reconcile('later')).toMatchObject({ ...lost, evidence: { cause: 'journal_changed' } });
      expect(await bench.kinds()).toEqual(['lost']);
    });

    it('[C4.4c] of a worker that was lost, and whose last word left open whether it sent, is no other journal', async () => {
      expect(await reconcile('first', traceOf('first', `${PERHAPS}1`))).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { cause: 'worker_lost' },
        sendAttempt: 0,
      });
    });

    it('[C4.4c] is none where the intent of that worker is here, whatever its last word was', async () => {
      await record('first', refused);
      expect(await reconcile('first', traceOf('first', `${PERHAPS}1`))).toMatchObject({
        outcome: 'rejected',
      });
    });

    it.each([
      ['a refusal of another run', answers.rejected(0, 'invalid_request')],
      ['another run whose fate is unknown', undefined],
    ])('[C4.4c] is not called unsent because of %s', async (_, answer) => {
      await record('first', answer);
      const told = { outcome: 'unconfirmed', evidence: { cause: 'journal_changed' }, sendAttempt: 1 };
      for (const other of [{}, { fingerprint: 'another' }])
        expect(await reconcile('later', { ...traceOf('later', 'unseen'), ...other })).toMatchObject(told);
      // It is noted once.
      expect((await bench.kinds()).filter((kind) => kind === 'lost')).toHaveLength(1);
    });

    it('[C4.4c] is proved by an intent only: an answer to it, or a note of it, is not enough', async () => {
      await bench.write(lostEntry({ nonce: 'unseen', sender: 'later' }));
      await bench.write(answerEntry(answers.refused(0), { nonce: 'unseen' }));
      expect(await reconcile('later', traceOf('later', 'unseen'))).toMatchObject({
        outcome: 'refused_for_now',
      });
      expect(await reconcile('later', traceOf('later', 'yet another'))).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { sendId: 'yet another' },
      });
    });

    it('[C4.4c] beside a purchase of another run the create compares the requests, whatever journal it was sent with', async () => {
      await record('first', created);
      const told = { outcome: 'not_sent', cause: 'recorded_by_another_run', sendAttemptUsed: false };
      expect(await reconcile('later', traceOf('later', 'unseen'))).toMatchObject(told);
      expect(await reconcile('later', { ...traceOf('later', 'unseen'), fingerprint })).toMatchObject({
        outcome: 'created',
      });
    });

    it('[C4.4c] is never called unsent where it stands in the log, whatever another run has bought since', async () => {
      await record('first', created);
      await bench.write(lostEntry({ nonce: 'kept', sender: 'later', runId: 'later', fingerprint: null }));
      expect(await reconcile('later')).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
      await bench.write(decisionEntry({ about: 'kept' }));
      const before = await bench.kinds();
      // The create itself is asked again, and compares the requests.
      expect(await reconcile('later')).toMatchObject({ cause: 'decided', mayBeOwed: true });
      expect(await reconcile('later', { fingerprint })).toMatchObject({ outcome: 'created', sendAttempt: 0 });
      expect((await bench.kinds()).slice(before.length, -1)).toEqual([]);
    });

    it('[C4.4c] may be with another journal where its worker had not heard of this one', async () => {
      const boundSince = new Date(1_000).toISOString();
      const checkBinding = async () => ({ bound: true, journalId: 'new', boundSince }) as const;
      for (const [scheduledAt, told] of [
        [boundSince, { outcome: 'not_sent', cause: 'fenced' }],
        [new Date(999).toISOString(), { outcome: 'unconfirmed', evidence: { cause: 'journal_changed' } }],
      ] as const)
        expect(
          await reconcile(scheduledAt, traceOf(scheduledAt, null, scheduledAt), { checkBinding }),
        ).toMatchObject(told);
      // Somebody has to decide before anything is sent under the key.
      expect(await bench.kinds()).toEqual(['fence', 'lost']);
    });

    it('[C4.4c] is not called unsent while the queue is bound to another journal', async () => {
      const checkBinding = async () => ({ bound: false, message: 'bound elsewhere' }) as const;
      await expect(reconcile('later', {}, { checkBinding })).rejects.toMatchObject({
        nonRetryable: false,
        details: [{ class: 'journal_not_bound' }],
      });
      expect(await bench.kinds()).toEqual([]);
    });
  });

  it('[C4.4c] a time that cannot be read proves nothing', async () => {
    expect(await reconcile('later', traceOf('later', null, 'yesterday'))).toMatchObject({
      outcome: 'unconfirmed',
    });
  });

  describe('beyond sends of others', () => {
    it('[C4.4a] finds the purchase of its own activity', async () => {
      await record('first', refused);
      await record('later', created);
      expect(await reconcile('later')).toMatchObject({ outcome: 'created', sendAttempt: 1 });
    });

    it.each([
      ['a refusal', refused],
      ['a refusal that is not over by our clock', answers.refused(0, LATER)],
    ])('[C4.4c] a sender that died beyond %s leaves the create unconfirmed', async (_, answer) => {
      await record('first', answer);
      await record('later', undefined, Date.now() - 1);
      expect(await reconcile('later')).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
      expect(await bench.state()).toMatchObject({ open: null, unknown: 1 });
    });

    it.each<[string, RecordedAnswer | undefined, number]>([
      ['a refusal of another run that is not over', answers.refused(0, LATER), 0],
      ['another run that sends just now', undefined, Date.now() + 60_000],
      ['another run whose fate is unknown', undefined, 0],
      ['a purchase of another run', created, 0],
    ])(
      '[C7.10] excludes its own lost create beside %s, and hands nothing out uncompared',
      async (_, answer, end) => {
        await record('first', answer, end);
        const before = await bench.log();
        const told = { outcome: 'not_sent', sendAttempt: 1, sendAttemptUsed: false };
        const cause = 'recorded_by_another_run';
        expect(await reconcile('later')).toMatchObject({ ...told, cause });
        expect(await reconcile('later')).toMatchObject(told);
        // One fence is enough, and it changes nothing for the other: but a sender that cannot be alive is given up.
        const givenUp = answer === undefined && end === 0 ? [{ kind: 'answer' }] : [];
        const added = [...givenUp, { kind: 'fence', sender: 'later' }];
        expect((await bench.log()).slice(before.length)).toMatchObject(added);
        expect(await bench.create({ sender: 'later' })).toMatchObject({ sent: false });
        expect(bench.posts()).toBe(0);
      },
    );

    it('[C7.10] excludes it beside what was declared lost', async () => {
      await record('first', answers.unconfirmed(0));
      const answer = answers.rejected(0, 'declared_lost');
      await bench.write(decisionEntry({ about: 'first', decision: 'declareLost', answer }));
      const cause = 'recorded_by_another_run';
      expect(await reconcile('later')).toMatchObject({ outcome: 'not_sent', cause });
      expect(await reconcile('later')).toMatchObject({ outcome: 'not_sent' });
      expect((await bench.kinds()).filter((kind) => kind === 'fence')).toHaveLength(1);
    });

    it('[C7.10] excludes nobody where the activity has its answer', async () => {
      await record('first', answers.refused(0, LATER));
      expect(await reconcile('first')).toMatchObject({ outcome: 'refused_for_now', sendAttempt: 0 });
      expect(await bench.kinds()).toEqual(['intent', 'answer']);
    });

    it("[C4.4a] another run's outcome is handed out only once the create has compared the requests", async () => {
      await record('first', created);
      expect(await reconcile('later', { fingerprint })).toMatchObject({ outcome: 'created', sendAttempt: 0 });
      expect(await reconcile('later', { fingerprint: 'another' })).toMatchObject({
        cause: 'recorded_by_another_run',
      });
    });

    it("[C4.4a] another run's unknown fate is told only once the create has compared the requests", async () => {
      await record('first', undefined, Date.now() - 1);
      expect(await reconcile('later')).toMatchObject({ outcome: 'not_sent', sendAttemptUsed: false });
      expect(await reconcile('later', { fingerprint })).toMatchObject({
        outcome: 'unconfirmed',
        sendAttempt: 0,
      });
    });

    it('[C4.4a] what another request came to is handed out to nobody, and beyond a refusal a lost create is excluded', async () => {
      await record('first', answers.rejected(0, 'invalid_request'));
      expect(await reconcile('later', { fingerprint: 'corrected' })).toMatchObject({ cause: 'fenced' });
      await record('second', created);
      expect(await reconcile('later', { fingerprint: 'corrected' })).toMatchObject({
        outcome: 'not_sent',
        cause: 'recorded_by_another_run',
      });
    });

    it('[C4.4a] what a corrected request bought is not the result of the one that was refused', async () => {
      await record('first', answers.rejected(0, 'invalid_request'));
      await bench.write(
        intentEntry({ nonce: 'second', sender: 'second', runId: 'second', fingerprint: 'corrected' }),
        answerEntry(created, { nonce: 'second' }),
      );
      expect(await reconcile('first')).toMatchObject({ outcome: 'rejected', sendAttempt: 0 });
    });
  });

  describe('where the activity can have sent nothing', () => {
    it('[C4.4c] excludes its sender, in all of its tries, and nobody else', async () => {
      for (const _again of [1, 2])
        expect(await reconcile('ours')).toMatchObject({
          outcome: 'not_sent',
          cause: 'fenced',
          sendAttempt: 0,
          sendAttemptUsed: false,
          permanent: false,
        });
      expect(await bench.kinds()).toEqual(['fence']);
      expect(await bench.create({ sender: 'ours' })).toMatchObject({ cause: 'fenced', sent: false });
      expect(bench.posts()).toBe(0);
      expect(await bench.create({ sender: 'another' })).toMatchObject({ outcome: 'created', sent: true });
    });

    it.each([
      ['compared', { fingerprint }],
      ['uncompared', {}],
    ])('excludes it beyond a refusal that may have ended, %s', async (_, input) => {
      await record('first', refused);
      const fenced = { outcome: 'not_sent', cause: 'fenced', sendAttempt: 1, sendAttemptUsed: false };
      expect(await reconcile('later', input)).toMatchObject(fenced);
      expect(await bench.kinds()).toEqual(['intent', 'answer', 'fence']);
      expect(await reconcile('later', input)).toMatchObject(fenced);
    });

    it('looks again where a sender took the place of that fence', async () => {
      const journal: CreateJournal = {
        ...bench.journal,
        append: async (key, n, entry) => {
          if (entry.kind === 'fence' && n === 0) await record('ours');
          return bench.journal.append(key, n, entry);
        },
      };
      await expect(reconcile('ours', {}, { journal })).rejects.toMatchObject({
        nonRetryable: false,
        details: [{ class: 'overtaken' }],
      });
      expect(await bench.kinds()).toEqual(['intent']);
    });

    it('says that the journal is down where it cannot exclude it', async () => {
      const journal = { ...bench.journal, append: () => Promise.reject(new Error('away')) };
      await expect(reconcile('ours', {}, { journal })).rejects.toMatchObject({
        type: 'MediaJournalUnavailable',
        nonRetryable: false,
      });
    });
  });

  it('the activity that was refused gets its own refusal back', async () => {
    await record('first', refused);
    expect(await reconcile('first')).toMatchObject({
      outcome: 'rejected',
      reason: 'credentials',
      sendAttempt: 0,
      sent: true,
    });
  });

  it('[C4.4c] looks at all sends of an activity: the last one counts', async () => {
    await record('first', answers.unconfirmed(0));
    await bench.write(decisionEntry({ about: 'first' }));
    expect(await reconcile('first')).toMatchObject({
      outcome: 'not_sent',
      cause: 'decided',
      mayBeOwed: true,
    });
    await bench.write(intentEntry({ nonce: 'second', sender: 'first', runId: 'first' }));
    expect(await reconcile('first')).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
      mayBeOwed: true,
    });
  });

  it('waits for a sender that may still be alive by a retry of its own', async () => {
    await record('later', undefined, Date.now() + 60_000);
    const failure = await reconcile('later').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ nonRetryable: false, details: [{ class: 'waiting_for_sender' }] });
  });

  it.each<[string, number, string]>([
    ['two seconds', 2_000, 'refused_for_now'],
    ['an hour', 3_600_000, 'refused_for_now'],
  ])(
    '[C8.7] a refusal by a clock that is %s ahead is waited for as long as the service asked',
    async (_, ahead, is) => {
      const at = (ms: number): string => new Date(Date.now() + ahead + ms).toISOString();
      await bench.write(
        intentEntry({ nonce: 'first', sender: 'first' }),
        answerEntry(answers.refused(0, at(5_000)), { nonce: 'first', at: at(0) }),
      );
      const answer = await reconcile('first');
      expect(answer.outcome).toBe(is);
      const { notBefore } = answer as Extract<CreateVideoAnswer, { outcome: 'refused_for_now' }>;
      expect(Date.parse(notBefore ?? '') - Date.now()).toBeLessThanOrEqual(5_000);
    },
  );

  describe('that gives up a send whose sender is late, not dead', () => {
    /** The sender records its answer just before the reconciliation records that there is none. */
    const late = (answer: RecordedAnswer): Partial<PaidDeps> => {
      let isFirst = true;
      const append: CreateJournal['append'] = async (key, n, entry) => {
        if (isFirst && entry.kind === 'answer') {
          isFirst = false;
          await bench.write(answerEntry(answer, { nonce: 'first' }));
        }
        return bench.journal.append(key, n, entry);
      };
      return { journal: { ...bench.journal, append } };
    };
    const compared = { fingerprint };

    it.each<[string, RecordedAnswer, string, object]>([
      ['its own purchase', created, 'first', { outcome: 'created' }],
      ['its own refusal', answers.refused(0), 'first', { outcome: 'refused_for_now', sendAttempt: 0 }],
      ['its own refusal for good', refused, 'first', { outcome: 'rejected' }],
      ['the purchase of another activity', created, 'later', { outcome: 'created', sendAttempt: 0 }],
      // Only the fence proves that this one has not sent.
      [
        'the refusal of another activity',
        answers.refused(0),
        'later',
        { outcome: 'not_sent', cause: 'fenced' },
      ],
    ])('[C4.4a] finds %s', async (_, answer, runId, told) => {
      await record('first');
      expect(await reconcile(runId, compared, late(answer))).toMatchObject(told);
      const { open, unknown } = await bench.state();
      expect([open, unknown]).toEqual([null, null]);
    });

    it('[C4.4b] a purchase that comes after that counts all the same', async () => {
      await record('first');
      expect(await reconcile('first')).toMatchObject({ outcome: 'unconfirmed' });
      await bench.write(answerEntry(created, { nonce: 'first' }));
      expect(await reconcile('first')).toMatchObject({ outcome: 'created', sendAttempt: 0 });
    });
  });

  it('[C4.4c] knows nothing without a journal', async () => {
    expect(await reconcile('first', {}, { journal: NO_JOURNAL })).toMatchObject({
      outcome: 'unconfirmed',
      evidence: evidence('no_journal'),
    });
    const log: readonly LogEntry[] = await bench.log();
    expect(log).toEqual([]);
  });
});
