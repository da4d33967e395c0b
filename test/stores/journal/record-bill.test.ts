import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pruneJournal } from '../../../packages/cli/src/journal/prune-journal';
import { batchWorkflowId } from '../../../src/domain/campaign/budget-book';
import { given } from '../../../src/domain/json';
import { type BillEntry } from '../../../src/domain/log-entries';
import { recordBill } from '../../../src/domain/record-bill';
import { createFileJournal, createFileRecords } from '../../../src/stores/journal/file-journal';
import { answers } from '../../domain/create-answers';
import {
  answerEntry,
  billEntry,
  decisionEntry,
  intentEntry,
  LOG_KEY as KEY,
  lostEntry,
} from '../../support/log-entries';

describe('a bill that is recorded', () => {
  let root: string;
  const journal = () => createFileJournal({ root });

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-bill-'));
    await journal().append(KEY, 0, intentEntry());
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('stands behind what is there, once for its send, source and reference, and says what the send was before', async () => {
    const before = (bill: BillEntry | null) => ({ sent: intentEntry(), answer: null, decision: null, bill });
    const bill = billEntry();
    expect(await recordBill(journal(), KEY, bill)).toEqual({ bill, isNew: true, send: before(null) });
    const again = billEntry({ microUnits: 1, by: 'bob' });
    expect(await recordBill(journal(), KEY, again)).toEqual({ bill, isNew: false, send: before(bill) });
    const others = [billEntry({ reference: 'other' }), billEntry({ source: 'person' })];
    for (const [index, other] of others.entries())
      expect(await recordBill(journal(), KEY, other)).toEqual({
        ...{ bill: other, isNew: true, send: before([bill, ...others][index] ?? null) },
      });
    expect(await journal().read(KEY)).toEqual([intentEntry(), bill, ...others]);
  });

  it('of the service stands behind none of an invoice or a person, and in front of both', async () => {
    const service = (reference: string) => billEntry({ source: 'service', reference });
    expect(await recordBill(journal(), KEY, service('task-1'))).toMatchObject({ isNew: true });
    const invoice = billEntry({ source: 'invoice', microUnits: 1 });
    expect(await recordBill(journal(), KEY, invoice)).toMatchObject({ isNew: true });
    const refused = { bill: invoice, isNew: false };
    expect(await recordBill(journal(), KEY, service('task-2'))).toMatchObject(refused);
    expect(await journal().read(KEY)).toHaveLength(3);
  });

  it('[C4.4a] whose write lost its reply was written by this call, once', async () => {
    const file = journal();
    const mute = {
      read: (key: typeof KEY) => file.read(key),
      append: async (...entry: Parameters<typeof file.append>) => {
        await file.append(...entry);
        throw new Error('The reply was lost.');
      },
    };
    expect(await recordBill(mute, KEY, billEntry())).toMatchObject({ isNew: true });
    expect(await recordBill(mute, KEY, billEntry({ by: 'bob' }))).toMatchObject({ isNew: false });
    const down = { ...mute, append: () => Promise.reject(new Error('down')) };
    await expect(recordBill(down, KEY, billEntry({ reference: 'b' }))).rejects.toThrow('down');
  });

  it('[C4.4a] finds a place among other writers, and the same one is written once by all of them', async () => {
    const references = Array.from({ length: 24 }, (_, index) => `invoice ${index % 6}`);
    const others = [answerEntry(), decisionEntry()];
    const place = async (entry: (typeof others)[number]): Promise<void> => {
      const one = journal();
      while ((await one.append(KEY, (await one.read(KEY)).length, entry)) === 'lost');
    };
    const [recorded] = await Promise.all([
      Promise.all(references.map((reference) => recordBill(journal(), KEY, billEntry({ reference })))),
      ...others.map(place),
    ]);
    expect(recorded.filter((one) => one?.isNew === true)).toHaveLength(6);
    const log = await journal().read(KEY);
    expect(log).toHaveLength(1 + others.length + 6);
    expect(log).toEqual(expect.arrayContaining([...others, billEntry({ reference: 'invoice 5' })]));
  });

  it('is pruned with its key, which a young one keeps, and decides about nothing', async () => {
    const bought = async (creationKey: string, at: string): Promise<void> => {
      const key = { ...KEY, creationKey };
      await journal().append(key, 0, intentEntry(key));
      await journal().append(key, 1, answerEntry());
      await recordBill(journal(), key, billEntry({ at }));
    };
    await bought('old', '2020-01-01T00:00:00.000Z');
    await bought('young', '2026-01-01T00:00:00.000Z');
    // This one has no answer.
    await recordBill(journal(), KEY, billEntry());
    const [records, before] = [createFileRecords({ root }), new Date('2025-01-01')];
    expect(await pruneJournal({ records, before, dryRun: false, inUse: async () => false })).toEqual({
      ...{ keys: 3, removed: 1, keptOpen: 1, keptYoung: 1, keptRunning: 0, keptBilled: 0 },
    });
    expect(await journal().read({ ...KEY, creationKey: 'old' })).toEqual([]);
  });

  it("[C1.7] keeps a campaign's key if it is beyond the estimate, which the budget counts", async () => {
    const OLD = '2020-01-01T00:00:00.000Z';
    const billed = async (creationKey: string, microUnits: number, payer?: string): Promise<void> => {
      const [key, estimate] = [
        { ...KEY, creationKey },
        { microUnits: 10, currency: 'USD' },
      ];
      await journal().append(key, 0, intentEntry({ ...key, at: OLD, estimate, ...given({ payer }) }));
      await journal().append(key, 1, answerEntry(answers.created(0), { at: OLD }));
      await recordBill(journal(), key, billEntry({ microUnits, at: OLD }));
    };
    await billed('dear', 30, batchWorkflowId('spring', 0));
    await billed('cheap', 3, batchWorkflowId('spring', 0));
    await billed('dear, of no campaign', 30);
    const [records, before] = [createFileRecords({ root }), new Date('2025-01-01')];
    expect(await pruneJournal({ records, before, dryRun: false, inUse: async () => false })).toMatchObject({
      ...{ keys: 4, removed: 2, keptOpen: 1, keptBilled: 1 },
    });
    expect(await journal().read({ ...KEY, creationKey: 'dear' })).toHaveLength(3);
  });

  it('is of a send that the log has, also of one that it did not see', async () => {
    expect(await recordBill(journal(), KEY, billEntry({ about: 'theirs' }))).toBeUndefined();
    expect(await recordBill(journal(), { ...KEY, creationKey: 'other' }, billEntry())).toBeUndefined();
    expect(await journal().read(KEY)).toEqual([intentEntry()]);
    await journal().append(KEY, 1, lostEntry({ nonce: 'theirs' }));
    expect(await recordBill(journal(), KEY, billEntry({ about: 'theirs' }))).toMatchObject({ isNew: true });
  });

  it.each([0.5, Number.NaN, 2 ** 53])(
    'is not written with an amount that nobody could read: %d',
    async (microUnits) => {
      await expect(recordBill(journal(), KEY, billEntry({ microUnits }))).rejects.toThrow(RangeError);
      expect(await journal().read(KEY)).toEqual([intentEntry()]);
    },
  );
});
