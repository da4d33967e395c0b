import assert from 'node:assert/strict';
import {
  allowanceLog,
  batchLog,
  batchWorkflowId,
  bookLog,
  type BookRecord,
  fenceLog,
  freeLog,
  ownerLog,
} from 'temporal-media/internal/domain/campaign/budget-book';
import { type CreatedVideo } from 'temporal-media/internal/domain/paid-call';
import { DEFAULT_POLLING } from 'temporal-media/internal/domain/video-task';
import {
  type CampaignLog,
  type CampaignRecord,
  type CreateJournal,
  type TaskIndexEntry,
  type AnswerEntry,
  type BillEntry,
  type DecisionEntry,
  type FenceEntry,
  type IntentEntry,
  type JournalKey,
  type LogEntry,
  type LostEntry,
} from 'temporal-media/stores';
import { type ConformanceCheck } from './conformance-check';

type Run = (
  journal: CreateJournal,
  again: CreateJournal,
  openOther: () => Promise<CreateJournal>,
) => Promise<void>;

const check = (name: string, run: Run) => ({ name, run });

/** Guarantees of the journal as a whole. */
const IDENTITY = [
  check('has one permanent id, which no other store has', async (journal, again, openOther) => {
    const names = await Promise.all([journal.identity(), again.identity(), journal.identity()]);
    assert.equal(new Set(names.map(({ journalId }) => journalId)).size, 1);
    const other = await openOther();
    assert.notEqual((await other.identity()).journalId, names[0].journalId);
  }),
  check(
    '[C5.4b] has one permanent random key, which no other store has',
    async (journal, again, openOther) => {
      const keys = await Promise.all([journal.sealingKey(), again.sealingKey(), journal.sealingKey()]);
      assert.equal(keys[0].length, 32);
      assert.equal(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 1);
      const other = await openOther();
      assert.notDeepEqual(await other.sealingKey(), keys[0]);
      const told = JSON.stringify(await journal.identity());
      assert.ok(!told.includes(Buffer.from(keys[0]).toString('base64')));
    },
  ),
  check('has the marks that were set, and no others', async (journal, again) => {
    assert.equal(await journal.hasMark('one'), false);
    await Promise.all([journal.putMark('one'), again.putMark('two'), again.putMark('one')]);
    for (const mark of ['one', 'two'])
      for (const asked of [journal, again]) assert.equal(await asked.hasMark(mark), true);
    assert.equal(await journal.hasMark('three'), false);
  }),
  check('reports that it is writable, and leaves nothing behind', async (journal) => {
    await journal.checkWritable();
    await journal.checkWritable();
    assert.deepEqual(await journal.scan(null, 10), { logs: [], next: null });
  }),
];

/** Guarantees of one creation key's log. */
const LOGS = [
  check('has an empty log for an unused key', async (journal) => {
    assert.deepEqual(await journal.read(KEY), []);
  }),
  check(
    'keeps the first entry for each number, and reports it to the second writer',
    async (journal, again) => {
      assert.equal(await journal.append(KEY, 0, intent({ nonce: 'first' })), 'won');
      assert.equal(await again.append(KEY, 0, fence('second')), 'lost');
      assert.equal(await journal.append(KEY, 1, answer('first')), 'won');
      assert.equal(await again.append(KEY, 1, answer('second')), 'lost');
      assert.equal(await journal.append(KEY, 2, decision('first')), 'won');
      assert.equal(await again.append(KEY, 2, decision('second')), 'lost');
      assert.deepEqual(await again.read(KEY), [
        intent({ nonce: 'first' }),
        answer('first'),
        decision('first'),
      ]);
    },
  ),
  check('keeps every kind of entry as it was written, in number order', async (journal, again) => {
    const log: LogEntry[] = [];
    const kinds = [intent(), answer('ours'), lost(), decision('unseen'), fence('another'), bill()];
    for (const entry of kinds) log.push(entry, { ...entry, at: LATER });
    log.push(intent({ ...EXTRAS, nonce: 'third' }));
    for (const [n, entry] of log.entries()) assert.equal(await journal.append(KEY, n, entry), 'won');
    assert.deepEqual(await again.read(KEY), log);
  }),
  check('keeps keys and namespaces separate', async (journal) => {
    await journal.append(KEY, 0, fence('mine'));
    for (const other of [
      { ...KEY, creationKey: 'order-2' },
      { ...KEY, namespace: 'other' },
    ])
      assert.deepEqual(await journal.read(other), []);
  }),
  check(
    '[C4.4a] accepts a later entry only after the previous one, so that a removed key starts over',
    async (journal) => {
      for (const entry of [intent(), lost(), fence('alone'), decision('ours'), bill()])
        await assert.rejects(journal.append(KEY, 1, entry));
      assert.deepEqual(await journal.read(KEY), []);
      assert.deepEqual(await journal.scan(null, 10), { logs: [], next: null });
      await journal.append(KEY, 0, fence('first'));
      await assert.rejects(journal.append(KEY, 2, intent()));
      assert.equal(await journal.append(KEY, 1, intent()), 'won');
    },
  ),
  check(
    '[C4.4a] keeps an answer whatever happened to earlier entries, and does not read a log without them',
    async (journal) => {
      assert.equal(await journal.append(KEY, 1, answer('ours')), 'won');
      await assert.rejects(journal.read(KEY));
      await assert.rejects(journal.append(KEY, 3, intent()));
      assert.equal(await journal.append(KEY, 0, intent()), 'won');
      assert.deepEqual(await journal.read(KEY), [intent(), answer('ours')]);
    },
  ),
];

/** Guarantees of a log with several concurrent writers and readers. */
const RACES = [
  check('[C4.4a] lets one of sixteen writers win', async (journal, again) => {
    const nonces = Array.from({ length: 16 }, (_, index) => `writer-${index}`);
    const ends = await Promise.all(
      nonces.map((nonce, index) => (index % 2 === 0 ? journal : again).append(KEY, 0, intent({ nonce }))),
    );
    assert.equal(ends.filter((end) => end === 'won').length, 1);
    assert.deepEqual(await journal.read(KEY), [intent({ nonce: nonces[ends.indexOf('won')]! })]);
  }),
  check('[C4.4a] reads a consistent state of a log that is being written', async (journal, again) => {
    const written = Array.from({ length: 30 }, (_, n) => fence(`sender-${n}`));
    let before = 0;
    const looked = async () => {
      const log = await again.read(KEY);
      assert.deepEqual(log, written.slice(0, log.length));
      assert.ok(log.length >= before, 'an entry that was read is missing');
      before = log.length;
    };
    for (const [n, entry] of written.entries())
      await Promise.all([journal.append(KEY, n, entry), looked(), looked()]);
    assert.deepEqual(await again.read(KEY), written);
  }),
];

/** Guarantees of lookups without a creation key. */
const SEARCHES = [
  check('lists every log once, page by page, with its entries in number order', async (journal) => {
    const keys = Array.from({ length: 7 }, (_, index) => ({ ...KEY, creationKey: `order-${index}` }));
    const third = keys[3]!;
    for (const key of keys) await journal.append(key, 0, intent({ workflowId: key.creationKey }));
    await journal.append(third, 1, answer('ours'));
    for (let n = 2; n <= 11; n++) await journal.append(third, n, fence(`sender-${n}`));
    const pages = [];
    for (let after: string | null = null; ;) {
      const page = await journal.scan(after, 3);
      pages.push(page.logs);
      if (page.next === null) break;
      after = page.next;
    }
    assert.ok(pages.every((page) => page.length <= 3));
    const owners = pages.flat().map(([first]) => (first?.kind === 'intent' ? first.workflowId : ''));
    assert.deepEqual(
      owners.sort(),
      keys.map(({ creationKey }) => creationKey),
    );
    const found = pages.flat().find((log) => log.length > 1);
    assert.equal(found?.length, 12);
    assert.deepEqual(found, await journal.read(third));
  }),
  check('lists nothing if nothing was written', async (journal) => {
    assert.deepEqual(await journal.scan(null, 10), { logs: [], next: null });
  }),
  check('finds open intents by their body until each of them is forgotten', async (journal, again) => {
    const other = { ...KEY, creationKey: 'order-2' };
    await journal.append(KEY, 0, intent({ bodyHash: 'same' }));
    await journal.append(other, 0, fence('before'));
    await journal.append(other, 1, intent({ bodyHash: 'same' }));
    await journal.append(other, 2, answer('ours'));
    await journal.append(other, 3, intent({ bodyHash: 'same', nonce: 'next' }));
    await journal.append({ ...KEY, creationKey: 'order-3' }, 0, intent({ bodyHash: 'another' }));
    await journal.append({ ...KEY, creationKey: 'order-4' }, 0, fence('f'));
    await journal.append({ ...KEY, creationKey: 'order-5' }, 0, lost());
    const places = async (asked: CreateJournal) =>
      (await asked.findOpenByBody('same'))
        .map(({ namespace, creationKey, n }) => `${namespace} ${creationKey} ${n}`)
        .sort();
    assert.deepEqual(await places(again), ['default order-1 0', 'default order-2 1', 'default order-2 3']);
    await again.forgetOpen({ ...KEY, n: 0 }, 'same');
    await again.forgetOpen({ ...KEY, n: 0 }, 'same');
    // For one key, the outcome of an earlier intent must not affect a later intent.
    await again.forgetOpen({ ...other, n: 1 }, 'same');
    assert.deepEqual(await places(journal), ['default order-2 3']);
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
];

/** Guarantees of campaign logs. */
const CAMPAIGNS = [
  check(
    'keeps the first record for each number of a campaign log, separate from other logs and keys',
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
      assert.deepEqual(await journal.read(asKey), []);
      assert.deepEqual(await journal.scan(null, 10), { logs: [], next: null });
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
      [allowanceLog('a/tenant=acme', 'USD'), { ...written, kind: 'allowance', nonce: 'n', ...ALLOWED }],
    ];
    for (const [log, record] of records) await journal.putRecord(log, 0, record);
    for (const [log, record] of records) assert.deepEqual(await again.readRecord(log, 0), record);
  }),
];

/**
 * Returns the guarantees of every journal of paid sends, no matter where it stores its records. `open` prepares an
 * empty journal and returns a function that opens it repeatedly, as several workers do.
 */
export function createJournalConformance(
  open: () => Promise<() => CreateJournal>,
): readonly ConformanceCheck[] {
  return [...IDENTITY, ...LOGS, ...RACES, ...SEARCHES, ...CAMPAIGNS].map(({ name, run }) => ({
    name,
    run: async () => {
      const opener = await open();
      await run(opener(), opener(), async () => (await open())());
    },
  }));
}

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-02T00:00:00.000Z';
const KEY: JournalKey = { namespace: 'default', creationKey: 'order-1' };

const SENT = {
  v: 1,
  ...KEY,
  nonce: 'ours',
  sender: 'run/1',
  operation: 'create_video',
  workflowId: 'wf',
  runId: 'run',
  activityId: '1',
  attemptAt: AT,
  fingerprint: 'f'.repeat(64),
  account: 'default@00000000',
  model: 'm',
  durationSeconds: 2,
  resolution: null,
  referenceMode: 'none',
  at: AT,
} as const;

const intent = (own: Partial<IntentEntry> = {}): IntentEntry => ({
  ...SENT,
  kind: 'intent',
  bodyHash: 'b'.repeat(64),
  estimate: null,
  idempotencyKey: 'k'.repeat(64),
  sendWindowEnd: AT,
  ...own,
});

const ALLOWED = { microUnits: 5, until: LATER, by: 'ada', reason: 'launch' };

/** Optional fields of an intent. */
const EXTRAS = {
  workflowId: null,
  runId: null,
  fingerprint: null,
  ancestors: ['batch', 'root'],
  estimate: { microUnits: 250_000, currency: 'USD' },
  payer: batchWorkflowId('spring', 3),
  idempotency: { header: 'Idempotency-Key', lastSendAt: AT },
  labels: { tenant: 'acme' },
  process: { space: 'boot/pid:[1]', pid: 7, identity: 'boot/42' },
} satisfies Partial<IntentEntry>;

const lost = (): LostEntry => ({ ...SENT, kind: 'lost', nonce: 'unseen', cause: 'journal_changed' });

/** A credit. */
const bill = (): BillEntry => ({
  ...{ v: 1, kind: 'bill', about: 'ours', microUnits: -350_000, currency: 'USD', source: 'invoice' },
  ...{ reference: 'invoice 2026-11', by: 'ada', reason: 'r', at: AT },
});

const fence = (sender: string): FenceEntry => ({
  v: 1,
  kind: 'fence',
  namespace: KEY.namespace,
  sender,
  workflowId: 'wf',
  ancestors: ['batch', 'root'],
  activityId: '1',
  at: AT,
});

const video = (taskId: string, account: string): CreatedVideo['video'] => ({
  ...{ taskId, account, model: 'm', durationSeconds: 2, resolution: null, referenceMode: 'none' },
  ...{ polling: DEFAULT_POLLING, createdAt: AT, source: 'create_reply' },
});

const answer = (nonce: string): AnswerEntry => ({
  v: 1,
  kind: 'answer',
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

const decision = (about: string): DecisionEntry => ({
  ...{ v: 1, kind: 'decision', about, decision: 'resubmit', answer: null },
  ...{ by: 'ada', reason: 'the service says no', at: AT },
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
  billed: -20,
  open: [
    [0, 250_000],
    [1, null],
  ],
  next: 2,
});
