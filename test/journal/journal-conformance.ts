import {
  batchLog,
  batchWorkflowId,
  bookLog,
  fenceLog,
  freeLog,
  ownerLog,
  type BookRecord,
  type CampaignLog,
  type CampaignRecord,
} from '../../src/domain/campaign/budget-book';
import {
  type CreateJournal,
  type JournalKey,
  type OutcomeRecord,
  type Resolution,
  type ClaimFence,
} from '../../src/domain/journal';
import { claimIntent } from '../activities/claim-intent';
import { answers } from '../domain/create-answers';
import { makeVideoTask } from '../domain/make-video-task';

const AT = '2026-01-01T00:00:00.000Z';
const KEY: JournalKey = { namespace: 'default', creationKey: 'order-1' };
const fence = (nonce: string): ClaimFence => ({ v: 1, kind: 'fence', nonce, at: AT });
const outcome = (nonce: string): OutcomeRecord => ({ v: 1, nonce, at: AT, answer: answers.created(0) });
const resolution = (decisionId: string): Resolution => ({
  v: 1,
  decision: 'resubmit',
  decisionId,
  by: 'ann',
  reason: 'the service says no',
  at: AT,
  answer: null,
});
const entry = (nonce: string): BookRecord => ({
  v: 1,
  kind: 'book',
  nonce,
  at: AT,
  closed: 1_500_000,
  open: [
    [0, 250_000],
    [1, null],
  ],
  next: 2,
});

/** What every journal of paid sends does, wherever it keeps its records. `open` opens the same store again and again. */
export function journalConformance(open: () => Promise<() => CreateJournal>): void {
  let journal: CreateJournal;
  let again: CreateJournal;
  beforeEach(async () => {
    const openStore = await open();
    [journal, again] = [openStore(), openStore()];
  });

  it('has one name for ever, and another store has another', async () => {
    const names = await Promise.all([journal.identity(), again.identity(), journal.identity()]);
    expect(new Set(names.map(({ journalId }) => journalId)).size).toBe(1);
    const other = (await open())();
    expect((await other.identity()).journalId).not.toBe(names[0].journalId);
  });

  it('[C5.4b] has one random key of its own for ever, and another store has another', async () => {
    const keys = await Promise.all([journal.sealingKey(), again.sealingKey(), journal.sealingKey()]);
    expect(keys[0]).toHaveLength(32);
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    const other = (await open())();
    expect(await other.sealingKey()).not.toEqual(keys[0]);
    expect(JSON.stringify(await journal.identity())).not.toContain(Buffer.from(keys[0]).toString('base64'));
  });

  it('has the marks that were put, and no other', async () => {
    expect(await journal.hasMark('one')).toBe(false);
    await Promise.all([journal.putMark('one'), again.putMark('two'), again.putMark('one')]);
    for (const mark of ['one', 'two'])
      for (const asked of [journal, again]) expect(await asked.hasMark(mark)).toBe(true);
    expect(await journal.hasMark('three')).toBe(false);
  });

  it('says nothing about a send attempt that nobody used', async () => {
    expect(await journal.read(KEY, 0)).toEqual({ claim: null, outcome: null, resolution: null });
  });

  it('keeps the first claim, outcome and resolution of a send attempt, and says so to the second', async () => {
    expect(await journal.putClaim(KEY, 0, claimIntent({ nonce: 'first' }))).toBe('won');
    expect(await again.putClaim(KEY, 0, fence('second'))).toBe('lost');
    expect(await journal.putOutcome(KEY, 0, outcome('first'))).toBe('won');
    expect(await again.putOutcome(KEY, 0, outcome('second'))).toBe('lost');
    expect(await journal.putResolution(KEY, 0, resolution('first'))).toBe('won');
    expect(await again.putResolution(KEY, 0, resolution('second'))).toBe('lost');
    expect(await again.read(KEY, 0)).toEqual({
      claim: claimIntent({ nonce: 'first' }),
      outcome: outcome('first'),
      resolution: resolution('first'),
    });
  });

  it('keeps keys, namespaces and send attempts apart', async () => {
    await journal.putClaim(KEY, 0, fence('mine'));
    const others: readonly (readonly [JournalKey, number])[] = [
      [KEY, 1],
      [{ ...KEY, creationKey: 'order-2' }, 0],
      [{ ...KEY, namespace: 'other' }, 0],
    ];
    for (const [key, sendAttempt] of others) expect((await journal.read(key, sendAttempt)).claim).toBeNull();
  });

  it('[C4.4a] takes a later send attempt only where the one before it is: a key that is gone begins anew', async () => {
    await expect(journal.putClaim(KEY, 1, fence('alone'))).rejects.toThrow();
    expect(await journal.scan(null, 10)).toEqual({ keys: [], next: null });
    await journal.putClaim(KEY, 0, fence('first'));
    await expect(journal.putClaim(KEY, 2, fence('third'))).rejects.toThrow();
    expect(await journal.putClaim(KEY, 1, fence('second'))).toBe('won');
  });

  it('[C4.4a] lets one of sixteen writers win', async () => {
    const nonces = Array.from({ length: 16 }, (_, index) => `writer-${index}`);
    const claims = await Promise.all(
      nonces.map((nonce, index) =>
        (index % 2 === 0 ? journal : again).putClaim(KEY, 0, claimIntent({ nonce })),
      ),
    );
    expect(claims.filter((end) => end === 'won')).toHaveLength(1);
    const { claim } = await journal.read(KEY, 0);
    expect(claim?.nonce).toBe(nonces[claims.indexOf('won')]);
  });

  it('lists every key once, page by page, with its send attempts in the order of their numbers', async () => {
    const keys = Array.from({ length: 7 }, (_, index) => ({ ...KEY, creationKey: `order-${index}` }));
    for (const key of keys) await journal.putClaim(key, 0, claimIntent({ workflowId: key.creationKey }));
    for (let sendAttempt = 1; sendAttempt <= 10; sendAttempt++)
      await journal.putClaim(keys[3]!, sendAttempt, fence(`send-attempt-${sendAttempt}`));
    await journal.putOutcome(keys[3]!, 0, outcome('n'));
    const pages = [];
    for (let after: string | null = null; ;) {
      const page = await journal.scan(after, 3);
      pages.push(page.keys);
      if (page.next === null) break;
      after = page.next;
    }
    expect(pages.every((page) => page.length <= 3)).toBe(true);
    const owners = pages
      .flat()
      .map(({ sendAttempts: [first] }) => first?.claim?.kind === 'intent' && first.claim.workflowId);
    expect([...owners].sort()).toEqual(keys.map(({ creationKey }) => creationKey));
    const third = pages.flat().find(({ sendAttempts }) => sendAttempts.length > 1);
    expect(third?.sendAttempts.map(({ sendAttempt }) => sendAttempt)).toEqual(
      Array.from({ length: 11 }, (_, sendAttempt) => sendAttempt),
    );
    expect(third?.sendAttempts[0]).toEqual({ sendAttempt: 0, ...(await journal.read(keys[3]!, 0)) });
  });

  it('has nothing to list when nobody has written', async () => {
    expect(await journal.scan(null, 10)).toEqual({ keys: [], next: null });
  });

  it('finds open send attempts by their body until they are forgotten', async () => {
    const other = { ...KEY, creationKey: 'order-2' };
    await journal.putClaim(KEY, 0, claimIntent({ bodyHash: 'same' }));
    await journal.putClaim(other, 0, fence('before'));
    await journal.putClaim(other, 1, claimIntent({ bodyHash: 'same' }));
    await journal.putClaim({ ...KEY, creationKey: 'order-3' }, 0, claimIntent({ bodyHash: 'another' }));
    await journal.putClaim({ ...KEY, creationKey: 'order-4' }, 0, fence('f'));
    const places = await again.findOpenByBody('same');
    expect(places).toHaveLength(2);
    expect(places).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...KEY, sendAttempt: 0 }),
        expect.objectContaining({ ...other, sendAttempt: 1 }),
      ]),
    );
    await again.forgetOpen({ ...KEY, sendAttempt: 0 }, 'same');
    await again.forgetOpen({ ...KEY, sendAttempt: 0 }, 'same');
    expect(await journal.findOpenByBody('same')).toEqual([
      expect.objectContaining({ ...other, sendAttempt: 1 }),
    ]);
    expect(await journal.findOpenByBody('unheard of')).toEqual([]);
  });

  it('finds a task by its id, once per account, as it was first written', async () => {
    const entry = (account: string, creationKey: string, taskId = 'video_1') => ({
      v: 1 as const,
      ...KEY,
      creationKey,
      sendAttempt: 0,
      workflowId: 'w',
      runId: 'r',
      video: makeVideoTask({ taskId, account }),
    });
    await journal.indexTask(entry('a@00000000', 'order-1'));
    await journal.indexTask(entry('a@00000000', 'order-2'));
    await journal.indexTask(entry('b@00000000', 'order-3'));
    await journal.indexTask(entry('a@00000000', 'order-4', 'video_2'));
    const found = await again.findTask('video_1');
    expect(found.map(({ video, creationKey }) => [video.account, creationKey]).sort()).toEqual([
      ['a@00000000', 'order-1'],
      ['b@00000000', 'order-3'],
    ]);
    expect(await again.findTask('video_3')).toEqual([]);
  });

  it('keeps the first record of each number of a campaign log, apart from every other log and every key', async () => {
    const log = bookLog('default', 'spring');
    expect(await journal.readRecord(log, 0)).toBeNull();
    const first = entry('first');
    expect(await journal.putRecord(log, 0, first)).toBe('won');
    expect(await again.putRecord(log, 0, entry('second'))).toBe('lost');
    expect(await again.putRecord(log, 1, entry('next'))).toBe('won');
    expect(await again.readRecord(log, 0)).toEqual(first);
    expect(await journal.readRecord(log, 1)).toEqual(entry('next'));
    for (const other of [
      bookLog('other', 'spring'),
      bookLog('default', 'summer'),
      { ...log, name: 'spring' },
    ])
      expect(await journal.readRecord(other, 0)).toBeNull();
    expect((await journal.read({ namespace: log.namespace, creationKey: log.name }, 0)).claim).toBeNull();
    expect(await journal.scan(null, 10)).toEqual({ keys: [], next: null });
  });

  it('lets one of sixteen writers win a record', async () => {
    const nonces = Array.from({ length: 16 }, (_, index) => `writer-${index}`);
    const log = bookLog('default', 'spring');
    const claims = await Promise.all(
      nonces.map((nonce, index) => (index % 2 === 0 ? journal : again).putRecord(log, 0, entry(nonce))),
    );
    expect(claims.filter((end) => end === 'won')).toHaveLength(1);
    expect(await journal.readRecord(log, 0)).toEqual(entry(nonces[claims.indexOf('won')]!));
  });

  it('keeps every kind of record as it was written', async () => {
    const payer = batchWorkflowId('spring', 3);
    const written = { v: 1, at: AT } as const;
    const rows = { index: 'i', page: 2, generation: 1, size: 5, rows: '1f', started: 1_000 } as const;
    const records: readonly (readonly [CampaignLog, CampaignRecord])[] = [
      [batchLog('default', payer), { ...written, kind: 'batch', nonce: 'n', rows: [rows] }],
      [ownerLog('default', payer), { ...written, kind: 'owner', run: 'r' }],
      [fenceLog('default', payer), { ...written, kind: 'fence', nonce: 'n' }],
      [freeLog('default', 'media-row/spring/a/0'), { ...written, kind: 'free', by: payer, deducts: true }],
    ];
    for (const [log, record] of records) await journal.putRecord(log, 0, record);
    for (const [log, record] of records) expect(await again.readRecord(log, 0)).toEqual(record);
  });

  it('tells that it can be written, and leaves nothing behind', async () => {
    await journal.checkWritable();
    await journal.checkWritable();
    expect(await journal.scan(null, 10)).toEqual({ keys: [], next: null });
  });
}
