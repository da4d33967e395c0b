import assert from 'node:assert/strict';
import {
  batchLog,
  batchWorkflowId,
  bookLog,
  type BookRecord,
  type CampaignLog,
  type CampaignRecord,
  fenceLog,
  freeLog,
  ownerLog,
} from '../../domain/campaign/budget-book';
import {
  type ClaimFence,
  type ClaimIntent,
  type CreateJournal,
  type JournalKey,
  type OutcomeRecord,
  type Resolution,
  type TaskIndexEntry,
} from '../../domain/journal';
import { type CreatedVideo } from '../../domain/paid-call';
import { DEFAULT_POLLING } from '../../domain/polling-profile';
import { type ConformanceCheck } from './conformance-check';

/**
 * What every journal of paid sends must do, wherever it keeps its records. `open` prepares an empty journal and returns
 * a function that opens it again and again, as several workers do.
 */
export function createJournalConformance(
  open: () => Promise<() => CreateJournal>,
): readonly ConformanceCheck[] {
  const check = (
    name: string,
    run: (journal: CreateJournal, again: CreateJournal) => Promise<void>,
  ): ConformanceCheck => ({
    name,
    run: async () => {
      const opener = await open();
      await run(opener(), opener());
    },
  });

  return [
    check('has one name for ever, and another store has another', async (journal, again) => {
      const names = await Promise.all([journal.identity(), again.identity(), journal.identity()]);
      assert.equal(new Set(names.map(({ journalId }) => journalId)).size, 1);
      const other = (await open())();
      assert.notEqual((await other.identity()).journalId, names[0].journalId);
    }),
    check(
      '[C5.4b] has one random key of its own for ever, and another store has another',
      async (journal, again) => {
        const keys = await Promise.all([journal.sealingKey(), again.sealingKey(), journal.sealingKey()]);
        assert.equal(keys[0].length, 32);
        assert.equal(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 1);
        const other = (await open())();
        assert.notDeepEqual(await other.sealingKey(), keys[0]);
        const told = JSON.stringify(await journal.identity());
        assert.ok(!told.includes(Buffer.from(keys[0]).toString('base64')));
      },
    ),
    check('has the marks that were put, and no other', async (journal, again) => {
      assert.equal(await journal.hasMark('one'), false);
      await Promise.all([journal.putMark('one'), again.putMark('two'), again.putMark('one')]);
      for (const mark of ['one', 'two'])
        for (const asked of [journal, again]) assert.equal(await asked.hasMark(mark), true);
      assert.equal(await journal.hasMark('three'), false);
    }),
    check('says nothing about a send attempt that nobody used', async (journal) => {
      assert.deepEqual(await journal.read(KEY, 0), { claim: null, outcome: null, resolution: null });
    }),
    check(
      'keeps the first claim, outcome and resolution of a send attempt, and says so to the second',
      async (journal, again) => {
        assert.equal(await journal.putClaim(KEY, 0, intent({ nonce: 'first' })), 'won');
        assert.equal(await again.putClaim(KEY, 0, fence('second')), 'lost');
        assert.equal(await journal.putOutcome(KEY, 0, outcome('first')), 'won');
        assert.equal(await again.putOutcome(KEY, 0, outcome('second')), 'lost');
        assert.equal(await journal.putResolution(KEY, 0, resolution('first')), 'won');
        assert.equal(await again.putResolution(KEY, 0, resolution('second')), 'lost');
        assert.deepEqual(await again.read(KEY, 0), {
          claim: intent({ nonce: 'first' }),
          outcome: outcome('first'),
          resolution: resolution('first'),
        });
      },
    ),
    check('keeps keys, namespaces and send attempts apart', async (journal) => {
      await journal.putClaim(KEY, 0, fence('mine'));
      const others: readonly (readonly [JournalKey, number])[] = [
        [KEY, 1],
        [{ ...KEY, creationKey: 'order-2' }, 0],
        [{ ...KEY, namespace: 'other' }, 0],
      ];
      for (const [key, sendAttempt] of others)
        assert.equal((await journal.read(key, sendAttempt)).claim, null);
    }),
    check(
      '[C4.4a] takes a later send attempt only where the one before it is: a key that is gone begins anew',
      async (journal) => {
        await assert.rejects(journal.putClaim(KEY, 1, fence('alone')));
        assert.deepEqual(await journal.scan(null, 10), { keys: [], next: null });
        await journal.putClaim(KEY, 0, fence('first'));
        await assert.rejects(journal.putClaim(KEY, 2, fence('third')));
        assert.equal(await journal.putClaim(KEY, 1, fence('second')), 'won');
      },
    ),
    check('[C4.4a] lets one of sixteen writers win', async (journal, again) => {
      const nonces = Array.from({ length: 16 }, (_, index) => `writer-${index}`);
      const ends = await Promise.all(
        nonces.map((nonce, index) => (index % 2 === 0 ? journal : again).putClaim(KEY, 0, intent({ nonce }))),
      );
      assert.equal(ends.filter((end) => end === 'won').length, 1);
      const { claim } = await journal.read(KEY, 0);
      assert.equal(claim?.nonce, nonces[ends.indexOf('won')]);
    }),
    check(
      'lists every key once, page by page, with its send attempts in the order of their numbers',
      async (journal) => {
        const keys = Array.from({ length: 7 }, (_, index) => ({ ...KEY, creationKey: `order-${index}` }));
        const third = keys[3]!;
        for (const key of keys) await journal.putClaim(key, 0, intent({ workflowId: key.creationKey }));
        for (let sendAttempt = 1; sendAttempt <= 10; sendAttempt++)
          await journal.putClaim(third, sendAttempt, fence(`send-attempt-${sendAttempt}`));
        await journal.putOutcome(third, 0, outcome('n'));
        const pages = [];
        for (let after: string | null = null; ;) {
          const page = await journal.scan(after, 3);
          pages.push(page.keys);
          if (page.next === null) break;
          after = page.next;
        }
        assert.ok(pages.every((page) => page.length <= 3));
        const owners = pages
          .flat()
          .map(({ sendAttempts: [first] }) =>
            first?.claim?.kind === 'intent' ? first.claim.workflowId : '',
          );
        assert.deepEqual(
          owners.sort(),
          keys.map(({ creationKey }) => creationKey),
        );
        const found = pages.flat().find(({ sendAttempts }) => sendAttempts.length > 1);
        assert.deepEqual(
          found?.sendAttempts.map(({ sendAttempt }) => sendAttempt),
          Array.from({ length: 11 }, (_, sendAttempt) => sendAttempt),
        );
        assert.deepEqual(found?.sendAttempts[0], { sendAttempt: 0, ...(await journal.read(third, 0)) });
      },
    ),
    check('has nothing to list when nobody has written', async (journal) => {
      assert.deepEqual(await journal.scan(null, 10), { keys: [], next: null });
    }),
    check('finds open send attempts by their body until they are forgotten', async (journal, again) => {
      const other = { ...KEY, creationKey: 'order-2' };
      await journal.putClaim(KEY, 0, intent({ bodyHash: 'same' }));
      await journal.putClaim(other, 0, fence('before'));
      await journal.putClaim(other, 1, intent({ bodyHash: 'same' }));
      await journal.putClaim({ ...KEY, creationKey: 'order-3' }, 0, intent({ bodyHash: 'another' }));
      await journal.putClaim({ ...KEY, creationKey: 'order-4' }, 0, fence('f'));
      const places = async (asked: CreateJournal) =>
        (await asked.findOpenByBody('same'))
          .map(({ namespace, creationKey, sendAttempt }) => `${namespace} ${creationKey} ${sendAttempt}`)
          .sort();
      assert.deepEqual(await places(again), ['default order-1 0', 'default order-2 1']);
      await again.forgetOpen({ ...KEY, sendAttempt: 0 }, 'same');
      await again.forgetOpen({ ...KEY, sendAttempt: 0 }, 'same');
      assert.deepEqual(await places(journal), ['default order-2 1']);
      assert.deepEqual(await journal.findOpenByBody('unheard of'), []);
    }),
    check('finds a task by its id, once per account, as it was first written', async (journal, again) => {
      await journal.indexTask(entry('a@00000000', 'order-1'));
      await journal.indexTask(entry('a@00000000', 'order-2'));
      await journal.indexTask(entry('b@00000000', 'order-3'));
      await journal.indexTask(entry('a@00000000', 'order-4', 'video_2'));
      const found = await again.findTask('video_1');
      assert.deepEqual(found.map(({ video, creationKey }) => `${video.account} ${creationKey}`).sort(), [
        'a@00000000 order-1',
        'b@00000000 order-3',
      ]);
      assert.deepEqual(await again.findTask('video_3'), []);
    }),
    check(
      'keeps the first record of each number of a campaign log, apart from every other log and every key',
      async (journal, again) => {
        const log = bookLog('default', 'spring');
        assert.equal(await journal.readRecord(log, 0), null);
        assert.equal(await journal.putRecord(log, 0, book('first')), 'won');
        assert.equal(await again.putRecord(log, 0, book('second')), 'lost');
        assert.equal(await again.putRecord(log, 1, book('next')), 'won');
        assert.deepEqual(await again.readRecord(log, 0), book('first'));
        assert.deepEqual(await journal.readRecord(log, 1), book('next'));
        const others = [bookLog('other', 'spring'), bookLog('default', 'summer'), { ...log, name: 'spring' }];
        for (const other of others) assert.equal(await journal.readRecord(other, 0), null);
        const asKey = { namespace: log.namespace, creationKey: log.name };
        assert.equal((await journal.read(asKey, 0)).claim, null);
        assert.deepEqual(await journal.scan(null, 10), { keys: [], next: null });
      },
    ),
    check('lets one of sixteen writers win a record', async (journal, again) => {
      const nonces = Array.from({ length: 16 }, (_, index) => `writer-${index}`);
      const log = bookLog('default', 'spring');
      const ends = await Promise.all(
        nonces.map((nonce, index) => (index % 2 === 0 ? journal : again).putRecord(log, 0, book(nonce))),
      );
      assert.equal(ends.filter((end) => end === 'won').length, 1);
      assert.deepEqual(await journal.readRecord(log, 0), book(nonces[ends.indexOf('won')]!));
    }),
    check('keeps every kind of record as it was written', async (journal, again) => {
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
      for (const [log, record] of records) assert.deepEqual(await again.readRecord(log, 0), record);
    }),
    check('tells that it can be written, and leaves nothing behind', async (journal) => {
      await journal.checkWritable();
      await journal.checkWritable();
      assert.deepEqual(await journal.scan(null, 10), { keys: [], next: null });
    }),
  ];
}

const AT = '2026-01-01T00:00:00.000Z';
const KEY: JournalKey = { namespace: 'default', creationKey: 'order-1' };

const intent = (own: Partial<ClaimIntent> = {}): ClaimIntent => ({
  v: 1,
  kind: 'intent',
  nonce: 'ours',
  operation: 'create_video',
  ...KEY,
  workflowId: 'wf',
  runId: 'run',
  activityId: '1',
  fingerprint: 'f'.repeat(64),
  bodyHash: 'b'.repeat(64),
  idempotencyKey: 'k'.repeat(64),
  account: 'default@00000000',
  model: 'm',
  durationSeconds: 2,
  resolution: null,
  referenceMode: 'none',
  estimate: null,
  at: AT,
  sendWindowEnd: AT,
  ...own,
});

const fence = (nonce: string): ClaimFence => ({ v: 1, kind: 'fence', nonce, at: AT });

const video = (taskId: string, account: string): CreatedVideo['video'] => ({
  taskId,
  model: 'm',
  durationSeconds: 2,
  resolution: null,
  referenceMode: 'none',
  account,
  polling: DEFAULT_POLLING,
  createdAt: AT,
  source: 'create_reply',
});

const outcome = (nonce: string): OutcomeRecord => ({
  v: 1,
  nonce,
  at: AT,
  answer: {
    outcome: 'created',
    sendAttempt: 0,
    sent: true,
    account: 'default@00000000',
    estimate: null,
    video: video('video_1', 'default@00000000'),
    status: 'queued',
    warnings: [],
  },
});

const resolution = (by: string): Resolution => ({
  v: 1,
  decision: 'resubmit',
  by,
  reason: 'the service says no',
  at: AT,
  answer: null,
});

const entry = (account: string, creationKey: string, taskId = 'video_1'): TaskIndexEntry => ({
  v: 1,
  ...KEY,
  creationKey,
  sendAttempt: 0,
  workflowId: 'w',
  runId: 'r',
  video: video(taskId, account),
});

const book = (nonce: string): BookRecord => ({
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
