import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { countBill, SpendBooks, spendBooksOf } from '../../src/activities/spend-book';
import { spendLog } from '../../src/domain/campaign/budget-book';
import { type CreateJournal } from '../../src/domain/journal';
import { given } from '../../src/domain/json';
import {
  configuredLimits,
  type Labels,
  limitsOf,
  type ReservedIn,
  type SpendLimit,
  spendWindow,
} from '../../src/domain/money';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { intentEntry } from '../support/log-entries';

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
    expect(got.filter((one) => 'correct' in one)).toHaveLength(33);
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
      allowed: 0,
      endsAt: Date.UTC(2026, 1, 1),
    });
    if ('correct' in reserved) await reserved.correct(0);
    expect(await books().reserve(of(ACCOUNT, limitOf(10)), 10)).toHaveProperty('correct');
    expect(await first.reserve(of(ACCOUNT, limitOf(10)), 1)).toMatchObject({ spent: 10 });
  });

  it('begins anew with the next window, for each account, and with a limit that was raised', async () => {
    const one = books();
    await one.reserve(of(ACCOUNT, limitOf(10)), 10);
    expect(await one.reserve(of(ACCOUNT, limitOf(10)), 10)).toHaveProperty('spent');
    expect(await one.reserve(of('studio-b', limitOf(10)), 10)).toHaveProperty('correct');
    expect(await one.reserve(of(ACCOUNT, limitOf(20)), 10)).toHaveProperty('correct');
    expect(await one.reserve(of(ACCOUNT, { ...limitOf(10), currency: 'JPY' }), 10)).toHaveProperty('correct');
    const tomorrow = books(journal, () => NOON + 86_400_000);
    expect(await tomorrow.reserve(of(ACCOUNT, limitOf(10)), 10)).toHaveProperty('correct');
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
    expect(await books(mute).reserve(of(ACCOUNT, limitOf(10)), 4)).toHaveProperty('correct');
    expect(await journal.readRecord(spendLog(ACCOUNT, 'USD', '2026-01-31'), 0)).toMatchObject({ spent: 4 });
    const limit = of(ACCOUNT, limitOf(10));
    const allowance = { microUnits: 5, until: '2026-02-01T00:00:00Z', by: 'ada', reason: 'launch' };
    await books(mute).allow(limit, allowance);
    expect(await books().used(limit)).toMatchObject({ spent: 4, allowed: 5 });
    const broken = { ...journal, putRecord: () => Promise.reject(new Error('full')) };
    await expect(books(broken).reserve(limit, 1)).rejects.toThrow('full');
    await expect(books(broken).allow(limit, allowance)).rejects.toThrow('full');
  });

  it.each([
    ['hour', '2026-01-31T12', Date.UTC(2026, 0, 31, 13)],
    ['day', '2026-01-31', Date.UTC(2026, 1, 1)],
    ['month', '2026-01', Date.UTC(2026, 1)],
  ] as const)('a window of one %s of UTC is %s', (per, id, endsAt) => {
    expect(spendWindow(per, NOON + 1)).toEqual({ id, endsAt });
  });
});

describe('limits by label', () => {
  const LABELLED = {
    spendLimit: { microUnits: 100, currency: 'USD', per: 'day' },
    limits: [
      { label: 'tenant', each: 50, values: { acme: 80 }, currency: 'USD', per: 'hour', whenReached: 'wait' },
      { label: 'project', each: null, values: { x: 5 }, currency: 'USD', per: 'day', whenReached: 'refuse' },
    ],
  } as const;

  it('are those of the labels that a call has, after the limit of its account', () => {
    const payers = (labels?: Labels) =>
      limitsOf('a', LABELLED, labels).map(({ payer, microUnits }) => [payer, microUnits]);
    expect(payers()).toEqual([['a', 100]]);
    expect(payers({ tenant: 'acme', project: 'y' })).toEqual([
      ['a', 100],
      ['a/tenant=acme', 80],
    ]);
    expect(payers({ tenant: 'other', project: 'x' })).toEqual([
      ['a', 100],
      ['a/tenant=other', 50],
      ['a/project=x', 5],
    ]);
    expect(payers({ tenant: 'constructor', toString: 'x' })).toContainEqual(['a/tenant=constructor', 50]);
  });

  it('are known without a call for the account, and for each value that is configured', () => {
    expect(configuredLimits('a', LABELLED).map(({ payer, microUnits }) => [payer, microUnits])).toEqual([
      ['a', 100],
      ['a/tenant=acme', 80],
      ['a/project=x', 5],
    ]);
  });
});

describe('what persons allow, and bills', () => {
  it('[C1.7] raises a limit until its time, exactly, whoever reserves', async () => {
    const root = await mkdtemp(join(tmpdir(), 'temporal-media-allow-'));
    try {
      let now = NOON;
      const books = () => new SpendBooks(createFileJournal({ root }), () => now);
      const limit = of('a/tenant=acme', limitOf(10));
      expect(await books().reserve(limit, 10)).toHaveProperty('correct');
      expect(await books().reserve(limit, 1)).toHaveProperty('spent', 10);
      const until = new Date(NOON + 3_600_000).toISOString();
      const allowance = { microUnits: 5, until, by: 'ada', reason: 'launch' };
      await Promise.all([books().allow(limit, allowance), books().allow(limit, allowance)]);
      expect(await books().used(limit)).toMatchObject({ spent: 10, allowed: 10 });
      const asked = await Promise.all(Array.from({ length: 20 }, () => books().reserve(limit, 1)));
      expect(asked.filter((one) => 'correct' in one)).toHaveLength(10);
      // A call may be larger than the limit alone, and 0 takes back what was allowed.
      const other = { ...limit, payer: 'a/tenant=globex' };
      expect(await books().reserve(other, 12)).toMatchObject({ spent: 0, allowed: 0 });
      await books().allow(other, { ...allowance, microUnits: 2 });
      expect(await books().reserve(other, 12)).toHaveProperty('correct');
      await books().allow(other, { ...allowance, microUnits: 0 });
      expect(await books().used(other)).toMatchObject({ spent: 12, allowed: 0 });
      await books().allow(other, allowance);
      expect(await books().used(other)).toMatchObject({ allowed: 5 });
      now += 3_600_000;
      expect(await books().used(limit)).toMatchObject({ spent: 20, allowed: 0 });
      // The service's own amount counts in place of the estimate.
      const [kept] = await Promise.all([books().reserve({ ...limit, payer: 'a' }, 4)]);
      if ('correct' in kept) await kept.correct(3);
      expect(await books().used({ ...limit, payer: 'a' })).toMatchObject({ spent: 3 });
      // A cheaper bill frees money, a dearer one counts beyond the limit, and none counts in a window that has ended.
      const { payer, per, currency } = limit;
      const bill = (microUnits: number, at = new Date(NOON).toISOString()) =>
        books().counted([{ payer, per, at }], { microUnits, currency });
      await bill(-15);
      expect(await books().reserve(limit, 5)).toHaveProperty('correct');
      await bill(100);
      expect(await books().used(limit)).toMatchObject({ spent: 110 });
      await bill(100, '2026-01-30T12:00:00Z');
      // A credit is corrected by what it really was, also one beyond what was spent.
      await bill(-1_000);
      await bill(900);
      expect(await books().used(limit)).toMatchObject({ spent: 10 });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});

describe('a limit with bills', () => {
  const amount = fc.integer({ min: 1, max: 40 });
  const call = fc.record({
    estimate: amount,
    /** What bills say, one after another. */
    bills: fc.array(fc.integer({ min: 0, max: 80 }), { maxLength: 3 }),
    isRefused: fc.boolean(),
    worker: fc.nat(2),
  });

  it('[C1.7] counts each bill once, in any order, and no call goes beyond it but for dearer bills', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 12 }),
        fc.integer({ min: 20, max: 200 }),
        async (calls, most) => {
          const root = await mkdtemp(join(tmpdir(), 'temporal-media-bills-'));
          try {
            const workers = [0, 1, 2].map(() => new SpendBooks(createFileJournal({ root }), () => NOON));
            const limit = of('a/tenant=acme', limitOf(most));
            const place = { payer: limit.payer, per: limit.per, at: new Date(NOON).toISOString() };
            const counted = await Promise.all(
              calls.map(async ({ estimate, bills, isRefused, worker }) => {
                const reserved = await workers[worker]!.reserve(limit, estimate);
                if (!('correct' in reserved)) return { kept: 0, dearer: 0 };
                if (isRefused) {
                  await reserved.correct(0);
                  return { kept: 0, dearer: 0 };
                }
                let kept = estimate;
                let dearer = 0;
                for (const [index, bill] of bills.entries()) {
                  if (index === 0) await reserved.correct(bill);
                  else {
                    const more = { microUnits: bill - kept, currency: 'USD' };
                    await workers[(worker + index) % 3]!.counted([place], more);
                  }
                  dearer += Math.max(0, bill - kept);
                  kept = bill;
                }
                return { kept, dearer };
              }),
            );
            const sum = (of: 'kept' | 'dearer') => counted.reduce((total, one) => total + one[of], 0);
            expect(await workers[0]!.used(limit)).toMatchObject({ spent: sum('kept') });
            expect(sum('kept')).toBeLessThanOrEqual(most + sum('dearer'));
          } finally {
            await rm(root, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('a bill of a send', () => {
  const estimate = { microUnits: 10, currency: 'USD' };
  const bill = { microUnits: 4, currency: 'USD' };
  const send = (reserved?: readonly ReservedIn[]) => ({
    ...{ sent: { ...intentEntry(), estimate, ...given({ reserved }) }, answer: null },
    ...{ decision: null, bill: null },
  });

  it('[C1.7] counts where its estimate was reserved, whatever limits hold since and whenever it was sent', async () => {
    const root = await mkdtemp(join(tmpdir(), 'temporal-media-counted-'));
    try {
      const journal = createFileJournal({ root });
      const books = spendBooksOf(journal);
      const [early, late] = [of('a', limitOf(30)), of('a/tenant=acme', limitOf(30))];
      const reserved = await books.reserve(early, 10);
      if (!('correct' in reserved)) throw new Error('It fits.');
      // A limit that the call was not sent under, perhaps because it is newer, never had its estimate.
      await books.reserve(late, 10);
      await countBill(journal, send([{ payer: 'a', per: 'day', at: reserved.at }]), bill);
      expect([(await books.used(early)).spent, (await books.used(late)).spent]).toEqual([4, 10]);
      await countBill(journal, send(), bill);
      // Sent after the window in which it was reserved had ended: that window has no more limit.
      const yesterday = new Date(Date.now() - 86_400_000).toISOString();
      await countBill(journal, send([{ payer: 'a', per: 'day', at: yesterday }]), bill);
      expect((await books.used(early)).spent).toBe(4);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
