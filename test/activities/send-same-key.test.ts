import { type KeyLog } from '../../src/activities/key-log';
import { createResolveUnconfirmed } from '../../src/activities/unconfirmed-calls';
import { isSameCall, unknownCall, withSameKey } from '../../src/activities/unknown-sends';
import { type CreatePolicy } from '../../src/domain/create-policy';
import { type CreateJournal } from '../../src/domain/journal';
import { type CreatedVideo, type CreateVideoAnswer } from '../../src/domain/paid-call';
import { stateOf } from '../../src/domain/paid-log';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, intentEntry, LOG_KEY, lostEntry } from '../support/log-entries';
import { type LogBench, openLogBench, traceOf } from './log-bench';

const iso = (time: number): string => new Date(time).toISOString();

describe('a call of unknown fate, to be sent again under its key', () => {
  const now = Date.now();
  const idempotency = { header: 'Idempotency-Key', lastSendAt: iso(now + 3_600_000) };
  const logOf = (...entries: KeyLog['entries']): KeyLog => ({
    key: LOG_KEY,
    entries,
    state: stateOf(entries),
  });
  const opened = (sendWindowEnd: number): KeyLog =>
    logOf(intentEntry({ at: iso(now), sendWindowEnd: iso(sendWindowEnd), idempotency }));

  it('[C4.4a] is left to its sender while that may be alive: it may yet prove that nothing was sent', () => {
    expect(unknownCall(opened(now + 60_000), 'ours', now)).toBeUndefined();
  });

  it('[C4.4a] is not sent again where it may arrive after the window, because its model may take longer by now', () => {
    const policy = { header: 'Idempotency-Key', honoured: true, windowSeconds: 120 } as const;
    const intent = intentEntry({
      at: iso(now),
      idempotency: { header: 'Idempotency-Key', lastSendAt: iso(now + 50_000) },
    });
    const call = { account: intent.account, bodyHash: intent.bodyHash, idempotency: policy };
    expect(isSameCall(intent, { ...call, budgetMs: 60_000 }, now)).toBe(true);
    expect(isSameCall(intent, { ...call, budgetMs: 300_000 }, now)).toBe(false);
  });

  it('[C4.4a] is not called so any more once the time for it is over, whatever was said of it before', () => {
    const found = unknownCall(opened(now - 1), 'ours', now);
    if (found === undefined) throw new Error('It may be sent.');
    expect(found.unknown.sameKeyUntil).toBe(idempotency.lastSendAt);
    const intent = { ...found.intent, idempotency: { ...idempotency, lastSendAt: iso(now - 1) } };
    expect(withSameKey(found.unknown, intent, now).sameKeyUntil).toBeUndefined();
  });

  it('[C4.4b] is sent again once its sender has no time left', () => {
    expect(unknownCall(opened(now - 1), 'ours', now)?.unknown).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 0,
    });
  });

  it.each<[string, KeyLog['entries'], string]>([
    ['another send is named', [intentEntry({ idempotency })], 'another'],
    ['it was bought', [intentEntry({ idempotency }), answerEntry()], 'ours'],
    ['it was refused', [intentEntry({ idempotency }), answerEntry(answers.refused(0))], 'ours'],
    [
      'a person has decided',
      [intentEntry({ idempotency }), answerEntry(answers.unconfirmed(0)), decisionEntry()],
      'ours',
    ],
    ['this journal did not see it', [lostEntry()], 'ours'],
  ])('[C4.4a] is not sent again where %s', (_, entries, sendId) => {
    expect(unknownCall(logOf(...entries), sendId, now)).toBeUndefined();
  });
});

const POLICY: CreatePolicy = {
  on503: 'inspect',
  idempotency: { header: 'Idempotency-Key', honoured: true, windowSeconds: 86_400 },
};

describe('a create that is sent again under its key', () => {
  let bench: LogBench;
  beforeEach(async () => {
    bench = await openLogBench();
  });
  afterEach(() => bench.close());

  const ask = (sender: string, sameKey?: string): Promise<CreateVideoAnswer> =>
    bench.create({ sender, policy: POLICY, ...(sameKey !== undefined && { sameKey }) });
  const sendId = async (at = 0): Promise<string> => (await bench.state()).sends[at]?.sent.nonce ?? '';
  const keys = () => bench.service.seen.map(({ headers }) => headers['idempotency-key']);
  const task = (taskId: string): CreatedVideo => ({
    ...answers.created(0),
    video: { ...answers.created(0).video, taskId, account: 'default@00000000' },
  });

  beforeEach(async () => {
    bench.replies = [{ status: 502 }, { status: 200 }];
    expect(await ask('first')).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 0 });
    expect(await ask('first')).toMatchObject({ outcome: 'unconfirmed', sent: false });
  });

  it('[C4.4a] carries the recorded key, and is one purchase under one intent', async () => {
    const bought = await ask('second', await sendId());
    expect(bought).toMatchObject({ outcome: 'created', sendAttempt: 0, sent: true });
    expect((bought as CreatedVideo).warnings).toContainEqual(expect.stringMatching(/same idempotency key/));
    expect(bought).not.toHaveProperty('mayBeOwed');
    const [first, again] = keys();
    expect(again).toBe(first);
    expect(await bench.kinds()).toEqual(['intent', 'answer', 'answer', 'answer']);
    expect(await ask('third')).toMatchObject({ outcome: 'created', sent: false });
    expect(bench.posts()).toBe(2);
  });

  it('[C4.4c] is of unknown fate after a refusal: that is about this send only', async () => {
    bench.replies = [{ status: 401 }];
    expect(await ask('second', await sendId())).toMatchObject({
      outcome: 'unconfirmed',
      sent: true,
      evidence: { cause: 'same_key_refused', httpStatus: 401 },
    });
    bench.replies = [{ status: 429 }];
    expect(await ask('third', await sendId())).toMatchObject({ outcome: 'unconfirmed' });
    expect(await bench.state()).toMatchObject({ unknown: 0, refused: null });
    expect(await ask('fourth')).toMatchObject({ outcome: 'unconfirmed', sent: false });
  });

  it('[C4.4a] is not sent for another body, nor without the word of the operator', async () => {
    const other = { request: { model: 'm', prompt: 'another' }, sender: 'second' };
    expect(await bench.create({ ...other, policy: POLICY, sameKey: await sendId() })).toMatchObject({
      outcome: 'unconfirmed',
      sent: false,
    });
    expect(await bench.create({ sender: 'third', sameKey: await sendId() })).toMatchObject({
      outcome: 'unconfirmed',
      sent: false,
    });
    expect(bench.posts()).toBe(1);
  });

  it('[C4.4c] is not sent again where the journal lacks it: it is noted', async () => {
    expect(
      await bench.create({ creationKey: 'other', sender: 's', policy: POLICY, sameKey: 'lost' }),
    ).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { sendId: 'lost', cause: 'journal_changed' },
    });
    expect(bench.posts()).toBe(1);
  });

  /** While the second request is under way, the first sender or a person writes this into the log. */
  const meanwhile = (...entries: KeyLog['entries']): void => {
    bench.onCreate = () => bench.write(...entries);
  };

  it('[C4.4a] and was bought meanwhile by its first sender, as the same task, is bought once', async () => {
    const nonce = await sendId();
    meanwhile(answerEntry(task('video_1'), { nonce }));
    const bought = await ask('second', nonce);
    expect(bought).toMatchObject({ outcome: 'created', video: { taskId: 'video_1' } });
    expect(bought).not.toHaveProperty('mayBeOwed');
    expect(await bench.kinds()).toEqual(['intent', 'answer', 'answer', 'answer']);
  });

  it.each<[string, (nonce: string) => KeyLog['entries'][number]]>([
    ['bought by its first sender', (nonce) => answerEntry(task('video_9'), { nonce })],
    ['adopted', (nonce) => decisionEntry({ about: nonce, decision: 'adopt', answer: task('video_9') })],
  ])('[C7.10] and was %s meanwhile as another task: both are told, and found', async (_, write) => {
    const nonce = await sendId();
    meanwhile(write(nonce));
    const bought = (await ask('second', nonce)) as CreatedVideo;
    expect(bought).toMatchObject({ outcome: 'created', mayBeOwed: true, video: { taskId: 'video_9' } });
    expect(bought.warnings).toContainEqual(expect.stringMatching(/idempotency_not_honoured.*video_1/));
    expect(await bench.journal.findTask('video_1')).toMatchObject([{ creationKey: LOG_KEY.creationKey }]);
    // What stands is what everybody is told.
    expect(await ask('third')).toMatchObject({ outcome: 'created', video: { taskId: 'video_9' } });
    expect(bench.posts()).toBe(2);
  });

  it('[C4.4b] tells its task where the journal cannot record it', async () => {
    const nonce = await sendId();
    const journal = {
      ...bench.journal,
      append: (...[key, n, entry]: Parameters<CreateJournal['append']>) =>
        entry.kind === 'answer' && entry.answer.outcome === 'created'
          ? Promise.reject(new Error('EIO'))
          : bench.journal.append(key, n, entry),
    };
    const input = { sender: 'second', policy: POLICY, sameKey: nonce };
    expect(await bench.create(input, {}, { journal })).toMatchObject({ outcome: 'created', sent: true });
  });

  it('[C4.4a] sends nothing where it cannot be recorded before that its fate is unknown', async () => {
    const sent = { creationKey: 'order-2', nonce: 'open', fingerprint: null, sendWindowEnd: iso(0) };
    const [recorded] = await bench.log();
    if (recorded?.kind !== 'intent') throw new Error('no intent was written');
    const key = { ...LOG_KEY, creationKey: 'order-2' };
    await bench.journal.append(key, 0, { ...recorded, ...sent });
    const journal = { ...bench.journal, append: () => Promise.reject(new Error('EIO')) };
    const input = { creationKey: 'order-2', sender: 'second', policy: POLICY, sameKey: 'open' };
    expect(await bench.create(input, {}, { journal })).toMatchObject({ outcome: 'unconfirmed', sent: false });
    expect(bench.posts()).toBe(1);
    // With its journal it records that first.
    expect(await bench.create(input)).toMatchObject({ outcome: 'created', sent: true });
    expect((await bench.log(key)).map(({ kind }) => kind)).toEqual(['intent', 'answer', 'answer']);
  });

  it('[C8.7] leaves a send that another run has made since as long as the service asked of that one', async () => {
    const first = await sendId();
    await bench.write(decisionEntry({ about: first }));
    bench.replies = [{ status: 503, headers: { 'retry-after': '600' } }];
    const unknown = await ask('second');
    expect(unknown).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
    const { notBefore } = unknown as { notBefore?: string };
    expect(notBefore).toEqual(expect.any(String));
    expect(await ask('first again', first)).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
      notBefore,
    });
    expect(bench.posts()).toBe(2);
  });

  it('[C4.4a] has another key once a person had it sent again: that is another purchase', async () => {
    await bench.write(decisionEntry({ about: await sendId() }));
    expect(await ask('second')).toMatchObject({ outcome: 'created', sendAttempt: 1, mayBeOwed: true });
    const [first, again] = keys();
    expect(again).not.toBe(first);
    // What the first send bought after all counts, and both are owed.
    await bench.write(answerEntry(task('video_9'), { nonce: await sendId() }));
    expect(await bench.reconcile(traceOf('second'))).toMatchObject({ outcome: 'created', mayBeOwed: true });
  });

  it('[C7.10] is not decided about while it may be in flight: what it buys would be hidden', async () => {
    const nonce = await sendId();
    let decided: unknown;
    bench.replies = [{ status: 502 }];
    bench.onCreate = async () => {
      decided = await bench
        .environment()
        .run(createResolveUnconfirmed(bench.deps()), {
          creationKey: LOG_KEY.creationKey,
          sendId: nonce,
          decision: 'declareLost' as const,
          by: 'ada',
          reason: 'not in the console',
        })
        .catch((error: unknown) => error);
    };
    expect(await ask('second', nonce)).toMatchObject({ outcome: 'unconfirmed', sent: true });
    expect(decided).toMatchObject({
      nonRetryable: false,
      message: expect.stringContaining('in flight again') as unknown,
    });
    expect(await bench.state()).toMatchObject({ unknown: 0, refused: null });
  });

  it('[C4.4a] is not sent again where a decision stands by then, or another repetition takes the place', async () => {
    const nonce = await sendId();
    const journal = {
      ...bench.journal,
      append: async (...[key, n, entry]: Parameters<CreateJournal['append']>) => {
        const answer = answers.rejected(0);
        await bench.write(decisionEntry({ about: nonce, decision: 'declareLost', answer }));
        return bench.journal.append(key, n, entry);
      },
    };
    expect(
      await bench.create({ sender: 'second', policy: POLICY, sameKey: nonce }, {}, { journal }),
    ).toMatchObject({ outcome: 'rejected', sent: false });
    expect(bench.posts()).toBe(1);
  });
});

describe('two tasks under one idempotency key', () => {
  it('[C7.10] are both told, also where the first reply is recorded second', async () => {
    const bench = await openLogBench();
    try {
      bench.replies = [{ status: 200, body: { id: 'video_1', status: 'queued' } }];
      let repeated: CreateVideoAnswer | undefined;
      bench.onCreate = async () => {
        bench.onCreate = async () => undefined;
        const { nonce } = (await bench.log())[0] as { nonce: string };
        await bench.write(answerEntry(answers.unconfirmed(0), { nonce }));
        const first = bench.replies;
        bench.replies = [{ status: 200, body: { id: 'video_2', status: 'queued' } }];
        repeated = await bench.create({ sender: 'second', policy: POLICY, sameKey: nonce });
        bench.replies = first;
      };
      const late = await bench.create({ sender: 'first', policy: POLICY });
      expect(repeated).toMatchObject({ outcome: 'created', video: { taskId: 'video_2' } });
      expect(late).toMatchObject({ outcome: 'created', mayBeOwed: true, video: { taskId: 'video_2' } });
      expect((late as CreatedVideo).warnings).toContainEqual(
        expect.stringMatching(/idempotency_not_honoured.*video_1/),
      );
    } finally {
      await bench.close();
    }
  });
});
