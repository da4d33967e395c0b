import { type CreateJournal } from '../../src/domain/journal';
import { type LogEntry, type RecordedAnswer } from '../../src/domain/log-entries';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { answers } from '../domain/create-answers';
import { eventually } from '../support/eventually';
import { answerEntry, decisionEntry, LOG_KEY } from '../support/log-entries';
import { type LogBench, openLogBench, traceOf } from './log-bench';

describe('a send', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
  });
  afterEach(() => bench.close());
  const adopted: RecordedAnswer = {
    ...answers.created(0),
    video: { ...answers.created(0).video, taskId: 'theirs' },
  };

  describe('whose answer comes late', () => {
    /** While the request is under way, others write this into the log. */
    const meanwhile = (write: (nonce: string) => readonly LogEntry[]): void => {
      bench.onCreate = async () => {
        bench.onCreate = async () => undefined;
        const intent = (await bench.log()).findLast(({ kind }) => kind === 'intent');
        await bench.write(...write(intent?.kind === 'intent' ? intent.nonce : ''));
      };
    };
    const given = (nonce: string): LogEntry => answerEntry(answers.unconfirmed(0), { nonce });

    it('[C4.4b] a purchase counts after everything that was decided', async () => {
      const decided = { decision: 'declareLost', answer: answers.rejected(0, 'declared_lost') } as const;
      meanwhile((nonce) => [given(nonce), decisionEntry({ about: nonce, ...decided })]);
      expect(await bench.create()).toMatchObject({ outcome: 'created', sent: true });
      expect((await bench.state()).bought).toBe(0);
    });

    it('[C4.4c] a refusal makes the key free where it was given up, and not where it was decided', async () => {
      bench.replies = [{ status: 429 }];
      meanwhile((nonce) => [given(nonce)]);
      expect(await bench.create({ sender: 'one' })).toMatchObject({ outcome: 'refused_for_now' });
      expect(await bench.state()).toMatchObject({ unknown: null, refused: 0 });
      meanwhile((nonce) => [given(nonce), decisionEntry({ about: nonce })]);
      expect(await bench.create({ sender: 'two' })).toMatchObject({ outcome: 'unconfirmed' });
    });

    it('[C4.4b] a refusal does not hide the task that was adopted meanwhile', async () => {
      bench.replies = [{ status: 400 }];
      meanwhile((nonce) => [
        given(nonce),
        decisionEntry({ about: nonce, decision: 'adopt', answer: adopted }),
      ]);
      expect(await bench.create()).toMatchObject({ outcome: 'created', video: { taskId: 'theirs' } });
    });

    it('[C7.10] of two purchases the first that is known counts, both are owed, and both are found by their ids', async () => {
      meanwhile((nonce) => [given(nonce), decisionEntry({ about: nonce })]);
      // The first is under way; meanwhile a person has it sent again, and that one buys.
      const resumed = bench.onCreate;
      bench.onCreate = async () => {
        await resumed();
        expect(await bench.create({ sender: 'again' })).toMatchObject({
          outcome: 'created',
          mayBeOwed: true,
        });
      };
      expect(await bench.create({ sender: 'first' })).toMatchObject({ outcome: 'created', mayBeOwed: true });
      const { sends, bought } = await bench.state();
      expect(bought).toBe(1);
      expect(sends.map(({ answer }) => answer?.answer.outcome)).toEqual(['created', 'created']);
      for (const taskId of ['video_1', 'video_2'])
        expect(await bench.journal.findTask(taskId)).toMatchObject([{ creationKey: LOG_KEY.creationKey }]);
    });
  });

  describe('whose answer cannot be written', () => {
    const broken = (): CreateJournal => ({
      ...bench.journal,
      append: (key, n, entry) =>
        entry.kind === 'answer' ? Promise.reject(new Error('EIO')) : bench.journal.append(key, n, entry),
    });

    it('[C4.4b] is told where it is a purchase', async () => {
      expect(await bench.create({}, {}, { journal: broken() })).toMatchObject({
        outcome: 'created',
        sent: true,
      });
    });

    it('[C4.4b] is told where it is a purchase before the server gives its activity up, and written when that is possible', async () => {
      const clock = performance.now.bind(performance);
      let back = (): void => undefined;
      const away = new Promise<void>((resolve) => (back = resolve));
      const journal: CreateJournal = {
        ...bench.journal,
        append: async (key, n, entry) => {
          if (entry.kind === 'answer') {
            jest.spyOn(performance, 'now').mockImplementation(() => clock() + 90_000);
            await away;
          }
          return bench.journal.append(key, n, entry);
        },
        indexTask: (entry) => away.then(() => bench.journal.indexTask(entry)),
      };
      const answer = await bench.create({}, {}, { journal });
      jest.restoreAllMocks();
      expect(answer).toMatchObject({ outcome: 'created', video: { taskId: 'video_1' } });
      expect(await bench.kinds()).toEqual(['intent']);
      back();
      await eventually('the answer', async () => (await bench.state()).bought === 0);
      await eventually('its index', async () => (await bench.journal.findTask('video_1')).length === 1);
    });

    it.each([
      ['a refusal for now', 429, 'refused_for_now'],
      ['a refusal', 400, 'rejected'],
      ['an unknown fate', 502, 'unconfirmed'],
    ] as const)(
      '[C4.4a] %s goes to the reconciliation, which writes it, once',
      async (_, status, outcome) => {
        bench.replies = [{ status }];
        const answer = await bench.create({ sender: 'ours' }, {}, { journal: broken() });
        const nonce = (await bench.state()).sends[0]?.sent.nonce ?? '';
        expect(answer).toMatchObject({
          outcome: 'pending',
          announced: nonce,
          unrecorded: { nonce, answer: { outcome } },
        });
        expect(await bench.kinds()).toEqual(['intent']);
        const { unrecorded } = answer as Extract<CreateVideoAnswer, { outcome: 'pending' }>;
        if (unrecorded === undefined) throw new Error('nothing is told');
        for (const _again of [1, 2])
          expect(await bench.reconcile({ ...traceOf('ours', nonce), unrecorded })).toMatchObject({
            outcome,
            sent: true,
            sendAttempt: 0,
          });
        expect(await bench.kinds()).toEqual(['intent', 'answer']);
      },
    );

    it('[C4.4b] of unknown fate does not hide the task that an earlier send bought meanwhile', async () => {
      bench.replies = [{ status: 502 }, { status: 502 }];
      await bench.create({ sender: 'first' });
      const nonce = (await bench.state()).sends[0]?.sent.nonce ?? '';
      await bench.write(decisionEntry({ about: nonce }));
      bench.onCreate = () => bench.write(answerEntry(adopted, { nonce }));
      const answer = await bench.create({ sender: 'ours' }, {}, { journal: broken() });
      expect(answer).toMatchObject({ outcome: 'pending' });
      const { unrecorded, announced = '' } = answer as Extract<CreateVideoAnswer, { outcome: 'pending' }>;
      const call = { ...traceOf('ours', announced), ...(unrecorded && { unrecorded }) };
      expect(await bench.reconcile(call)).toMatchObject({ outcome: 'created', video: { taskId: 'theirs' } });
    });

    it('[C4.4c] says nothing any more once its send was given up', async () => {
      bench.replies = [{ status: 429 }];
      const answer = await bench.create({ sender: 'ours' }, {}, { journal: broken() });
      const { unrecorded } = answer as Extract<CreateVideoAnswer, { outcome: 'pending' }>;
      const nonce = unrecorded?.nonce ?? '';
      await bench.write(answerEntry(answers.unconfirmed(0), { nonce }));
      expect(
        await bench.reconcile({ ...traceOf('ours', nonce), ...(unrecorded && { unrecorded }) }),
      ).toMatchObject({ outcome: 'unconfirmed' });
    });
  });
});
