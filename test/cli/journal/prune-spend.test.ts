import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pruneSpend } from '../../../packages/cli/src/journal/prune-journal';
import { SpendBooks } from '../../../src/activities/spend-book';
import { bookLog, spendLog } from '../../../src/domain/campaign/budget-book';
import { type CreateJournal } from '../../../src/domain/journal';
import { type SpendLimit } from '../../../src/domain/money';
import { createJournal } from '../../../src/stores/journal/create-journal';
import { createFileRecords } from '../../../src/stores/journal/file-journal';
import { type RecordStore } from '../../../src/stores/journal/record-store';

const of = (payer: string, limit: SpendLimit) => ({ ...limit, payer, whenReached: 'wait' as const });
const DAY = 86_400_000;

describe('pruning what accounts have spent', () => {
  let root: string;
  let records: RecordStore;
  let journal: CreateJournal;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-spend-'));
    records = createFileRecords({ root });
    journal = createJournal(records);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const NOW = Date.parse('2026-05-20T12:00:00Z');
  const spent = (window: string, n: number, at: string) =>
    journal.putRecord(spendLog('a', 'USD', window), n, {
      ...{ v: 1, kind: 'spend', nonce: `${window} ${n}`, at, spent: n },
    });
  const prune = (before: string, dryRun = false, now = NOW) =>
    pruneSpend({ records, before: new Date(before), dryRun, now: () => now });

  it('removes the records of windows that no limit reaches any more, and counts first when it is asked to', async () => {
    await spent('2026-01', 0, '2026-01-03T00:00:00Z');
    await spent('2026-01', 1, '2026-01-31T23:00:00Z');
    await spent('2026-01-31T07', 0, '2026-01-31T07:10:00Z');
    await spent('2026-05', 0, '2026-05-01T00:00:00Z');
    expect(await prune('2026-05-19T00:00:00Z', true)).toBe(3);
    expect(await prune('2026-05-19T00:00:00Z')).toBe(3);
    expect(await prune('2026-05-19T00:00:00Z')).toBe(0);
    expect(await journal.readRecord(spendLog('a', 'USD', '2026-01'), 0)).toBeNull();
    expect(await journal.readRecord(spendLog('a', 'USD', '2026-05'), 0)).toMatchObject({ spent: 0 });
  });

  it('[C1.7] keeps an open window whole, however old its first record is, and a day more for clocks that are behind', async () => {
    await spent('2026-04', 0, '2026-04-01T00:00:00Z');
    expect(await prune('2026-05-31T00:00:00Z', false, Date.parse('2026-04-30T23:59:00Z'))).toBe(0);
    expect(await prune('2026-05-31T00:00:00Z', false, Date.parse('2026-05-01T23:59:00Z'))).toBe(0);
    expect(await prune('2026-03-31T00:00:00Z')).toBe(0);
    expect(await prune('2026-05-31T00:00:00Z', false, Date.parse('2026-05-02T00:01:00Z'))).toBe(1);
  });

  it('[C1.7] leaves the limit of a running worker as it is, and the books of campaigns', async () => {
    const limit = { microUnits: 10, currency: 'USD', per: 'month' } as const;
    await new SpendBooks(journal).reserve(of('a', limit), 8);
    await journal.putRecord(bookLog('default', 'spring'), 0, {
      ...{ v: 1, kind: 'owner', run: 'r', at: '2020-01-01T00:00:00Z' },
    });
    expect(await pruneSpend({ records, before: new Date(Date.now() + DAY), dryRun: false })).toBe(0);
    expect(await new SpendBooks(journal).reserve(of('a', limit), 8)).toMatchObject({ spent: 8 });
    expect(await journal.readRecord(bookLog('default', 'spring'), 0)).not.toBeNull();
  });
});
