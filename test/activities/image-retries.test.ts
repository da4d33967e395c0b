import { type Info } from '@temporalio/activity';
import { createImageCall } from '../../src/activities/image-call';
import { type PaidDeps } from '../../src/activities/paid-context';
import { type CreateJournal } from '../../src/domain/journal';
import { type ImageOutcome } from '../../src/domain/outcome';
import { type WaitingImage } from '../../src/domain/paid-call';
import { answers } from '../domain/create-answers';
import { makePng } from '../stores/artifacts/make-media';
import { answerEntry, decisionEntry, intentEntry, LOG_KEY } from '../support/log-entries';
import { type LogBench, openLogBench } from './log-bench';

const IMAGES = { created: 7, data: [{ b64_json: makePng(3, 2).toString('base64') }] };
const SENDER = 'the image activity';

/** An activity for images is retried by the server, and is its own reconciliation. */
describe('a retry of an image call', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
    bench.replies = [{ status: 200, body: IMAGES }];
  });
  afterEach(() => bench.close());

  const generate = (
    attempt: number,
    info: Partial<Info> = {},
    changes: Partial<PaidDeps> = {},
  ): Promise<ImageOutcome | WaitingImage> =>
    bench
      .environment({
        attempt,
        startToCloseTimeoutMs: 480_000,
        retryPolicy: { maximumAttempts: 5 },
        ...info,
      })
      .run(createImageCall('generate_image', bench.deps(changes)), {
        creationKey: LOG_KEY.creationKey,
        sender: SENDER,
        request: { model: 'm', prompt: 'a kite' },
      });
  const failing = (...given: Parameters<typeof generate>): Promise<unknown> =>
    generate(...given).catch((error: unknown) => error);
  const retryable = (name: string) => ({ nonRetryable: false, details: [{ class: name }] });
  const open = (sendWindowEnd: number) =>
    intentEntry({
      operation: 'generate_image',
      sender: SENDER,
      fingerprint: null,
      sendWindowEnd: new Date(sendWindowEnd).toISOString(),
    });

  it('[C4.4a] sends again after a refusal for now, each time under an intent of its own', async () => {
    bench.replies = [{ status: 429 }, { status: 429 }, { status: 200, body: IMAGES }];
    for (const attempt of [1, 2]) expect(await failing(attempt)).toMatchObject(retryable('refused_for_now'));
    expect(await generate(3)).toMatchObject({ outcome: 'completed' });
    expect(await generate(4)).toMatchObject({ outcome: 'completed' });
    expect(bench.posts()).toBe(3);
    const { sends } = await bench.state();
    expect(new Set(sends.map(({ sent }) => sent.sender))).toEqual(new Set([SENDER]));
    expect(new Set(sends.map(({ sent }) => sent.nonce)).size).toBe(3);
  });

  it('[C4.4a] that stood still never goes past what a later one was told', async () => {
    bench.replies = [{ status: 429 }, { status: 200, body: IMAGES }];
    const time = Date.now();
    const at = (ms: number) => ({
      scheduledTimestampMs: time,
      currentAttemptScheduledTimestampMs: time + ms,
    });
    expect(await failing(2, at(2_000))).toMatchObject(retryable('refused_for_now'));
    expect(await failing(1, at(0))).toMatchObject(retryable('refused_for_now'));
    expect(bench.posts()).toBe(1);
    expect(await generate(3, at(3_000))).toMatchObject({ outcome: 'completed' });
  });

  it('[C4.4a] never sends again after a refusal for good', async () => {
    bench.replies = [{ status: 400 }, { status: 200, body: IMAGES }];
    for (const attempt of [1, 2]) expect(await generate(attempt)).toMatchObject({ outcome: 'rejected' });
    expect(bench.posts()).toBe(1);
  });

  it('[C4.4c] waits over an open intent while its sender may live, then its fate is unknown, and nothing is sent', async () => {
    await bench.write(open(Date.now() + 60_000));
    for (const attempt of [2, 3])
      expect(await failing(attempt)).toMatchObject(retryable('waiting_for_sender'));
    expect(await bench.kinds()).toEqual(['intent']);
    const later = { currentAttemptScheduledTimestampMs: Date.now() + 61_000 };
    expect(await generate(4, later)).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { sendId: 'ours', cause: 'no_outcome_recorded' },
    });
    expect(await bench.kinds()).toEqual(['intent', 'answer']);
    expect(await generate(5, later)).toMatchObject({ outcome: 'unconfirmed' });
    expect(bench.posts()).toBe(0);
  });

  it.each([
    ['refused', answers.refused(0), retryable('refused_for_now')],
    ['not sent', answers.notSent(0), retryable('connection_refused')],
    ['refused for good', answers.rejected(0, 'invalid_request'), { outcome: 'rejected' }],
  ])(
    '[C4.4a] meets the answer of an earlier one that was late, not dead: it was %s',
    async (_, answer, told) => {
      await bench.write(open(Date.now() - 1));
      let isFirst = true;
      const append: CreateJournal['append'] = async (key, n, entry) => {
        if (isFirst && entry.kind === 'answer') {
          isFirst = false;
          await bench.write(answerEntry(answer));
        }
        return bench.journal.append(key, n, entry);
      };
      expect(await failing(2, {}, { journal: { ...bench.journal, append } })).toMatchObject(told);
      expect(await bench.state()).toMatchObject({ open: null, unknown: null, refused: 0 });
    },
  );

  describe('whose earlier one was announced and is not in this log', () => {
    const unseen = { heartbeatDetails: { intent: 'unseen' } };

    it('[C4.4c] sends nothing until a person has decided, and then once', async () => {
      for (const attempt of [2, 3])
        expect(await generate(attempt, unseen)).toMatchObject({
          outcome: 'unconfirmed',
          evidence: { sendId: 'unseen', cause: 'journal_changed' },
        });
      expect(await bench.kinds()).toEqual(['lost']);
      await bench.write(decisionEntry({ about: 'unseen' }));
      // Two may have cost now: the images do not settle it.
      expect(await generate(4, unseen)).toMatchObject({
        outcome: 'completed',
        billing: { state: 'needs_review' },
      });
      expect(await generate(5, unseen)).toMatchObject({ outcome: 'completed' });
      expect(bench.posts()).toBe(1);
    });

    it('[C4.4c] sends nothing once that was declared lost', async () => {
      await generate(2, unseen);
      const answer = answers.rejected(0, 'declared_lost');
      await bench.write(decisionEntry({ about: 'unseen', decision: 'declareLost', answer }));
      expect(await generate(3, unseen)).toMatchObject({ outcome: 'rejected', reason: 'declared_lost' });
      expect(bench.posts()).toBe(0);
    });
  });

  describe('[C4.4a] over a send of another workflow that is certainly over', () => {
    const theirs = { workflowId: 'first', runId: 'other', sender: 'theirs' };
    beforeEach(() => bench.write({ ...open(Date.now() - 60_000), ...theirs }));

    it('is named in the log before it says that its fate is unknown: a prune keeps the key for both', async () => {
      expect(await generate(2)).toMatchObject({ outcome: 'unconfirmed' });
      expect((await bench.log()).slice(1)).toMatchObject([
        { kind: 'answer' },
        { kind: 'fence', workflowId: 'wf' },
      ]);
    });

    it('may still send where that one was refused just now', async () => {
      let isFirst = true;
      const append: CreateJournal['append'] = async (...entry) => {
        if (isFirst) await bench.write(answerEntry(answers.refused(0)));
        isFirst = false;
        return bench.journal.append(...entry);
      };
      const journal = { ...bench.journal, append };
      expect(await failing(2, {}, { journal })).toMatchObject({ nonRetryable: false });
      expect(await generate(3)).toMatchObject({ outcome: 'completed' });
      expect(bench.posts()).toBe(1);
      expect(await bench.kinds()).not.toContain('fence');
    });
  });

  it('[C4.4c] of a queue that was bound anew since asks a person once, also beyond its own refusal in this journal', async () => {
    bench.replies = [{ status: 429 }, { status: 200, body: IMAGES }];
    expect(await failing(1)).toMatchObject(retryable('refused_for_now'));
    const { sends } = await bench.state();
    const now = Date.now();
    const boundSince = new Date(now).toISOString();
    const checkBinding = async () => ({ bound: true, journalId: 'new', boundSince }) as const;
    const later = {
      scheduledTimestampMs: now - 1_000,
      currentAttemptScheduledTimestampMs: now + 1_000,
      heartbeatDetails: { intent: sends[0]?.sent.nonce },
    };
    for (const attempt of [2, 3])
      expect(await generate(attempt, later, { checkBinding })).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { sendId: SENDER, cause: 'journal_changed' },
      });
    await bench.write(decisionEntry({ about: SENDER }));
    expect(await generate(4, later, { checkBinding })).toMatchObject({ outcome: 'completed' });
    expect(await bench.kinds()).toEqual(['intent', 'answer', 'lost', 'decision', 'intent', 'answer']);
    expect(bench.posts()).toBe(2);
  });

  it('[C4.4c] leaves a refusal that could not be written to the next one, which says what is known', async () => {
    bench.replies = [{ status: 429 }];
    const append: CreateJournal['append'] = (key, n, entry) =>
      entry.kind === 'answer' ? Promise.reject(new Error('EIO')) : bench.journal.append(key, n, entry);
    expect(await failing(1, {}, { journal: { ...bench.journal, append } })).toMatchObject(
      retryable('waiting_for_sender'),
    );
    expect(await failing(2)).toMatchObject(retryable('waiting_for_sender'));
    expect(await generate(5)).toMatchObject({ outcome: 'unconfirmed' });
    expect(bench.posts()).toBe(1);
  });
});
