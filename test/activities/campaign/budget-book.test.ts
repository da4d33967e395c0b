import { batchLog, bookLog, fenceLog, freeLog, ownerLog } from '../../../src/domain/campaign/budget-book';
import { type KeepBooksInput } from '../../../src/domain/campaign/campaign-activities';
import { packRows } from '../../../src/domain/campaign/row-sets';
import { type CreateJournal, NO_JOURNAL } from '../../../src/domain/journal';
import { BooksHarness, CAMPAIGN, NAMESPACE, payerOf, PRICE } from './books-harness';

const LOG = bookLog(NAMESPACE, CAMPAIGN);
const AT = new Date(0).toISOString();

describe('media.keepBooks', () => {
  let books: BooksHarness;
  beforeEach(async () => {
    books = await BooksHarness.open();
  });
  afterEach(() => books.close());

  const opening = (known: number | null, own: Partial<KeepBooksInput> = {}, want: number | null = 50) => ({
    known,
    budget: 100,
    ...own,
    move: { do: 'open' as const, batches: [[books.page(0)]], fences: [], want },
  });
  const closing = (
    known: number,
    batch: number,
    spent: number,
    free: readonly number[] = [],
    run = 'run',
  ) => ({
    known,
    budget: 100,
    move: {
      do: 'close' as const,
      batch,
      spent,
      run,
      free: free.map((row) => books.key(row).creationKey),
    },
  });

  it('begins with what the results have cost, and keeps every state', async () => {
    const empty = { n: null, book: { closed: 30, billed: 0, open: [], next: 0 } };
    expect(await books.kept({ before: 30, move: { do: 'look' } })).toEqual(empty);
    const first = await books.kept(opening(null, { before: 30 }));
    expect(first).toEqual({ n: 0, opened: [0], book: { closed: 30, billed: 0, open: [[0, 50]], next: 1 } });
    const second = await books.kept(opening(0, { before: 999 }));
    expect(second).toMatchObject({
      n: 1,
      opened: [1],
      book: {
        open: [
          [0, 50],
          [1, 20],
        ],
      },
    });
    const after = await books.kept(closing(1, 0, 40));
    expect(after).toEqual({ n: 2, book: { closed: 70, billed: 0, open: [[1, 20]], next: 2 } });
    const more = await books.kept({ known: 2, budget: 100, move: { do: 'raise', batch: 1, want: 50 } });
    expect(more).toEqual({ n: 3, book: { closed: 70, billed: 0, open: [[1, 30]], next: 2 } });
    for (const known of [null, 0, 1, 2, 3])
      expect(await books.kept({ known, move: { do: 'look' } })).toEqual({ n: 3, book: more.book });
  });

  it('finds the newest of many entries', async () => {
    for (let n = 0; n < 37; n += 1) {
      const entry = {
        v: 1,
        kind: 'book',
        nonce: `${n}`,
        at: AT,
        closed: n,
        billed: 0,
        open: [],
        next: 0,
      } as const;
      await books.journal.putRecord(LOG, n, entry);
      for (const known of [null, 0, Math.floor(n / 2), n])
        expect(await books.kept({ known, move: { do: 'look' } })).toMatchObject({ n, book: { closed: n } });
    }
  });

  it('keeps the rows of a batch before it may be started, and without a budget grants without an end', async () => {
    const rows = [books.page(0, { rows: packRows([1, 3]), size: 2 }), books.page(1, { started: 1_000 })];
    const opened = await books.kept({ move: { do: 'open', batches: [rows], fences: [], want: null } });
    expect(opened).toMatchObject({ n: 0, opened: [0], book: { open: [[0, null]] } });
    expect(await books.journal.readRecord(batchLog(NAMESPACE, payerOf(0)), 0)).toMatchObject({ rows });
  });

  it('opens several batches at once, each with what the ones before it leave', async () => {
    const batches = [[books.page(0)], [books.page(1)], [books.page(2)]];
    const move = { do: 'open', batches, fences: [], want: 60 } as const;
    const asking = { runId: 'parent', activityId: 'a' };
    const kept = await books.kept({ budget: 100, move }, asking);
    const open = [
      [0, 60],
      [1, 40],
      [2, 0],
    ];
    expect(kept).toEqual({ n: 0, opened: [0, 1, 2], book: { closed: 0, billed: 0, open, next: 3 } });
    for (const [place, rows] of batches.entries())
      expect(await books.journal.readRecord(batchLog(NAMESPACE, payerOf(place)), 0)).toMatchObject({ rows });
    expect(await books.kept({ budget: 100, move }, asking)).toEqual(kept);
  });

  it('shuts out the batches of runs that are gone before another one is opened, which finds all that they bought', async () => {
    await books.kept(opening(null));
    const rows = [books.page(1)];
    const move = { do: 'open', batches: [rows], fences: [0], want: 0 } as const;
    expect(await books.kept({ known: 0, budget: 100, move })).toMatchObject({ n: 1, opened: [1] });
    expect(await books.journal.readRecord(fenceLog(NAMESPACE, payerOf(0)), 0)).not.toBeNull();
    expect(await books.journal.readRecord(fenceLog(NAMESPACE, payerOf(1)), 0)).toBeNull();
  });

  it('wants what those rows cost that nobody has started, where the caller does not say', async () => {
    await books.close();
    books = await BooksHarness.open((number) => (number === 1 ? { changed: true } : {}));
    const sets = [books.page(0, { rows: packRows([0, 1, 2]) }), books.page(1, { started: 1_000 })];
    const opened = await books.kept({
      budget: 1_000,
      move: { do: 'open', batches: [sets], fences: [], want: null },
    });
    expect(opened).toMatchObject({ book: { open: [[0, 2 * PRICE]] } });
    const nothing = await books.kept({ ...opening(0, {}, 0), budget: 1_000 });
    expect(nothing).toMatchObject({
      book: {
        open: [
          [0, 2 * PRICE],
          [1, 0],
        ],
      },
    });
  });

  it('a retry finds what it wrote, and writes what the attempt before it did not get to', async () => {
    const asking = { runId: 'parent', activityId: 'a' };
    const log = batchLog(NAMESPACE, payerOf(0));
    const first = await books
      .kept(opening(null), { ...asking, deps: { journal: failing('putRecord', log.name) } })
      .catch((error: Error) => error.message);
    expect(first).toMatch(/cannot be read or written/);
    expect(await books.journal.readRecord(LOG, 0)).toMatchObject({ next: 1 });
    const again = await books.kept(opening(null), asking);
    expect(again).toEqual({ n: 0, opened: [0], book: { closed: 0, billed: 0, open: [[0, 50]], next: 1 } });
    expect(await books.journal.readRecord(log, 0)).toMatchObject({ rows: [books.page(0)] });
    // Also once somebody else has written since.
    await books.kept(opening(0), { runId: 'other' });
    const late = await books.kept(opening(null), asking);
    expect(late).toMatchObject({ n: 1, opened: [0], book: { next: 2 } });
    expect(await books.journal.readRecord(LOG, 2)).toBeNull();
  });

  it('does nothing where somebody else has written since, and tells the newest state', async () => {
    const { book } = await books.kept(opening(null), { runId: 'other' });
    expect(await books.kept(opening(null))).toEqual({ n: 0, book, conflict: true });
    await books.kept(closing(0, 0, 10), { runId: 'other' });
    const stale = await books.kept(closing(0, 0, 40));
    expect(stale).toEqual({ n: 1, book: { closed: 10, billed: 0, open: [], next: 1 }, conflict: true });
    expect(await books.kept(closing(1, 0, 40))).toEqual({ n: 1, book: stale.book });
  });

  it('[C4.4a] of sixteen that open at once one does, and the others hear of it', async () => {
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, number) => books.kept(opening(null), { runId: `run-${number}` })),
    );
    expect(results.filter(({ opened }) => opened?.[0] === 0)).toHaveLength(1);
    expect(results.filter(({ conflict }) => conflict === true)).toHaveLength(15);
    for (const { book } of results) expect(book.open).toEqual([[0, 50]]);
  });

  it('closing shuts the batch out first', async () => {
    await books.kept(opening(null));
    await books.kept(closing(0, 0, 10));
    expect(await books.journal.readRecord(fenceLog(NAMESPACE, payerOf(0)), 0)).not.toBeNull();
  });

  it('does not take the word of a run for what another run of the batch has sent', async () => {
    await books.kept(opening(null));
    const owner = { v: 1, kind: 'owner', run: 'first', at: AT } as const;
    await books.journal.putRecord(ownerLog(NAMESPACE, payerOf(0)), 0, owner);
    expect(await books.kept(closing(0, 0, 0, [], 'reset'))).toMatchObject({ n: 0, unsettled: true });
    const settled = closing(0, 0, 10);
    const after = await books.kept({ ...settled, move: { ...settled.move, run: null } });
    expect(after).toMatchObject({ n: 1, book: { closed: 10, billed: 0, open: [] } });
  });

  describe('what has cost nothing', () => {
    /** Two batches, of which the first has bought rows 0 and 1 and is closed. */
    async function afterFirst(): Promise<void> {
      await books.kept(opening(null));
      await Promise.all([books.bought(0, 0), books.bought(1, 0)]);
      await books.kept(closing(0, 0, 2 * PRICE));
      await books.kept(opening(1));
    }

    it('is taken off what a closed batch was charged for, once', async () => {
      await afterFirst();
      const after = await books.kept(closing(2, 1, 0, [0]));
      expect(after).toMatchObject({ n: 3, book: { closed: PRICE } });
      await books.kept(opening(3));
      expect(await books.kept(closing(4, 2, 0, [0]))).toMatchObject({ n: 5, book: { closed: PRICE } });
    });

    it('is taken off once where the closing is repeated, by whomever', async () => {
      await afterFirst();
      const asking = { runId: 'parent', activityId: 'close' };
      const down = { deps: { journal: failing('putRecord', LOG.name) } };
      expect(await books.keep(closing(2, 1, 0, [0]), { ...asking, ...down })).toHaveProperty('unavailable');
      expect(await books.kept(closing(2, 1, 0, [0]), { runId: 'other' })).toMatchObject({
        n: 3,
        book: { closed: PRICE },
      });
      expect(await books.kept(closing(2, 1, 0, [0]), asking)).toMatchObject({ n: 3, conflict: true });
    });

    it('is not taken off while its payer is open, and is taken off what the payer itself says', async () => {
      await books.kept(opening(null));
      await books.kept(opening(0));
      await books.bought(0, 0);
      await books.bought(5, 1);
      expect(await books.kept(closing(1, 1, PRICE, [0, 5]))).toMatchObject({ n: 2, book: { closed: 0 } });
      const free = await books.journal.readRecord(freeLog(NAMESPACE, books.key(0).creationKey), 0);
      expect(free).toMatchObject({ by: payerOf(1), deducts: false });
      // Its own settlement leaves it out.
      expect(await books.settle(0)).toEqual({ spent: 0, free: [] });
    });

    it('is not taken off by a closing that is repeated once the payer was closed without it', async () => {
      await books.kept(opening(null));
      await books.kept(opening(0));
      await books.bought(0, 0);
      const down = { deps: { journal: failing('putRecord', LOG.name) } };
      expect(await books.keep(closing(1, 1, 0, [0]), down)).toHaveProperty('unavailable');
      expect(await books.settle(0)).toEqual({ spent: 0, free: [] });
      await books.kept(closing(1, 0, 0));
      expect(await books.kept(closing(2, 1, 0, [0]))).toMatchObject({
        n: 3,
        book: { closed: 0, billed: 0, open: [] },
      });
    });

    it('is not taken off for a batch that was opened later than the entry on which the closing rests', async () => {
      await books.kept(opening(null));
      await books.bought(0, 7);
      await books.kept(closing(0, 0, 0, [0]));
      const free = await books.journal.readRecord(freeLog(NAMESPACE, books.key(0).creationKey), 0);
      expect(free).toMatchObject({ deducts: false });
    });

    it('is nothing for a send that nobody was charged for', async () => {
      await afterFirst();
      await books.started(2, 0);
      const { account, estimate } = { account: 'a', estimate: null };
      const refused = { outcome: 'not_sent', sendAttempt: 0, sent: false, account, estimate } as const;
      await books.ended(2, {
        ...refused,
        cause: 'x',
        sendAttemptUsed: true,
        permanent: false,
        message: 'No.',
      });
      expect(await books.kept(closing(2, 1, 0, [2, 3]))).toMatchObject({ book: { closed: 2 * PRICE } });
    });
  });

  it('says to a person why it cannot be kept now', async () => {
    const unavailable = async (...args: Parameters<BooksHarness['keep']>) =>
      ((await books.keep(...args)) as { unavailable?: string }).unavailable;
    expect(await unavailable(opening(null), { deps: { journal: NO_JOURNAL } })).toMatch(/no create journal/);
    const checkBinding = async () =>
      ({ bound: false, message: 'The queue belongs to another journal.' }) as const;
    expect(await unavailable(opening(null), { deps: { checkBinding } })).toMatch(/another journal/);
    const deps = { journal: failing('readRecord', LOG.name) };
    expect(await unavailable(opening(null), { deps })).toMatch(/cannot be read or written/);
    expect(await unavailable({ known: 3, move: { do: 'look' } })).toMatch(/replaced or restored/);
    const lost = { ...books.page(0), index: 'f'.repeat(64) };
    const move = { do: 'open', batches: [[lost]], fences: [], want: null } as const;
    expect(await unavailable({ budget: 1, move })).toMatch(/artifact store/);
    expect(await books.journal.readRecord(LOG, 0)).toBeNull();
  });

  /** The journal, in which one method does not work for one log. */
  function failing(method: 'readRecord' | 'putRecord', name: string): CreateJournal {
    const { journal } = books;
    const down = () => Promise.reject(new Error('the store does not answer'));
    return {
      ...journal,
      readRecord: (log, n) =>
        method === 'readRecord' && log.name === name ? down() : journal.readRecord(log, n),
      putRecord: (log, n, record) =>
        method === 'putRecord' && log.name === name ? down() : journal.putRecord(log, n, record),
    };
  }
});
