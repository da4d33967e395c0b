import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpendBooks } from '../../src/activities/spend-book';
import { spendLog } from '../../src/domain/campaign/budget-book';
import { type CreateJournal } from '../../src/domain/journal';
import { type SpendLimit, spendWindow } from '../../src/domain/money';
import { createFileJournal } from '../../src/stores/journal/file-journal';

const ACCOUNT = 'studio-a';
const NOON = Date.UTC(2026, 0, 31, 12);
const of = (payer: string, limit: SpendLimit) => ({ ...limit, payer, whenReached: 'wait' as const });
const limitOf = (microUnits: number) => ({ microUnits, currency: 'USD', per: 'day' }) as const;

describe('what an account has spent', () => {
  let root: string;
  let journal: CreateJournal;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-spend-'));
    journal = createFileJournal({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const books = (of = journal, now = () => NOON) => new SpendBooks(of, now);

  it('[C1.7] never exceeds its limit, however many workers reserve at once, and comes exactly up to it', async () => {
    const workers = Array.from({ length: 4 }, () => books(createFileJournal({ root })));
    const asked = Array.from({ length: 100 }, (_, call) =>
      workers[call % workers.length]!.reserve(of(ACCOUNT, limitOf(330)), 10),
    );
    const got = await Promise.all(asked);
    expect(got.filter((one) => 'giveBack' in one)).toHaveLength(33);
    for (const one of got) if ('spent' in one) expect(one.spent).toBe(330);
  });

  it('is shared by calls that come together in one process: they need few entries', async () => {
    const one = books();
    await Promise.all(Array.from({ length: 50 }, () => one.reserve(of(ACCOUNT, limitOf(500)), 10)));
    const log = spendLog(ACCOUNT, 'USD', '2026-01-31');
    expect(await journal.readRecord(log, 1)).toMatchObject({ kind: 'spend', spent: 500 });
    expect(await journal.readRecord(log, 2)).toBeNull();
  });

  it('is given back once for what was refused, and a later worker goes on from there', async () => {
    const first = books();
    const reserved = await first.reserve(of(ACCOUNT, limitOf(10)), 10);
    expect(await books().reserve(of(ACCOUNT, limitOf(10)), 10)).toEqual({
      spent: 10,
      endsAt: Date.UTC(2026, 1, 1),
    });
    if ('giveBack' in reserved) await reserved.giveBack();
    expect(await books().reserve(of(ACCOUNT, limitOf(10)), 10)).toHaveProperty('giveBack');
    expect(await first.reserve(of(ACCOUNT, limitOf(10)), 1)).toMatchObject({ spent: 10 });
  });

  it('begins anew with the next window, for each account, and with a limit that was raised', async () => {
    const one = books();
    await one.reserve(of(ACCOUNT, limitOf(10)), 10);
    expect(await one.reserve(of(ACCOUNT, limitOf(10)), 10)).toHaveProperty('spent');
    expect(await one.reserve(of('studio-b', limitOf(10)), 10)).toHaveProperty('giveBack');
    expect(await one.reserve(of(ACCOUNT, limitOf(20)), 10)).toHaveProperty('giveBack');
    expect(await one.reserve(of(ACCOUNT, { ...limitOf(10), currency: 'JPY' }), 10)).toHaveProperty(
      'giveBack',
    );
    const tomorrow = books(journal, () => NOON + 86_400_000);
    expect(await tomorrow.reserve(of(ACCOUNT, limitOf(10)), 10)).toHaveProperty('giveBack');
  });

  it('[C4.4a] is not guessed: where the journal fails nothing is reserved, and an answer that was lost is read back', async () => {
    const down = { ...journal, readRecord: () => Promise.reject(new Error('down')) };
    await expect(books(down).reserve(of(ACCOUNT, limitOf(10)), 1)).rejects.toThrow('down');
    const mute: CreateJournal = {
      ...journal,
      putRecord: async (...record) => {
        await journal.putRecord(...record);
        throw new Error('The answer was lost.');
      },
    };
    expect(await books(mute).reserve(of(ACCOUNT, limitOf(10)), 4)).toHaveProperty('giveBack');
    expect(await journal.readRecord(spendLog(ACCOUNT, 'USD', '2026-01-31'), 0)).toMatchObject({ spent: 4 });
    const broken = { ...journal, putRecord: () => Promise.reject(new Error('full')) };
    await expect(books(broken).reserve(of(ACCOUNT, limitOf(10)), 1)).rejects.toThrow('full');
  });

  it.each([
    ['hour', '2026-01-31T12', Date.UTC(2026, 0, 31, 13)],
    ['day', '2026-01-31', Date.UTC(2026, 1, 1)],
    ['month', '2026-01', Date.UTC(2026, 1)],
  ] as const)('a window of one %s of UTC is %s', (per, id, endsAt) => {
    expect(spendWindow(per, NOON + 1)).toEqual({ id, endsAt });
  });
});
