import { fenceLog, freeLog } from '../../../src/domain/campaign/budget-book';
import { packRows } from '../../../src/domain/campaign/row-sets';
import { type CreateJournal, NO_JOURNAL } from '../../../src/domain/journal';
import { answers } from '../../domain/create-answers';
import { decisionEntry } from '../../support/log-entries';
import { BooksHarness, NAMESPACE, payerOf, PRICE } from './books-harness';

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

describe('media.settleBatch', () => {
  let books: BooksHarness;
  beforeEach(async () => {
    books = await BooksHarness.open();
  });
  afterEach(() => books.close());

  const open = (rows = [books.page(0), books.page(1)]) =>
    books.kept({ budget: 1_000, move: { do: 'open', batches: [rows], fences: [], want: null } });
  const freeOf = (row: number) => books.journal.readRecord(freeLog(NAMESPACE, books.key(row).creationKey), 0);

  it('shuts the batch out, and counts nothing for one that was never started', async () => {
    expect(await books.settle(0)).toEqual({ spent: 0, free: [] });
    expect(await books.journal.readRecord(fenceLog(NAMESPACE, payerOf(0)), 0)).not.toBeNull();
  });

  it('counts what the batch has bought or may have, of its own rows and nobody else', async () => {
    await open([books.page(0, { rows: packRows([0, 1, 2, 3]) }), books.page(1)]);
    await books.bought(0, 0);
    await books.bought(1, 9);
    await books.started(2, 0);
    await books.bought(4, 0);
    await books.started(5, 0);
    await books.ended(5, answers.refused(0));
    await books.started(5, 0, { nonce: 'next' });
    await books.ended(5, answers.unconfirmed(1), 'next');
    expect(await books.settle(0)).toEqual({ spent: 3 * PRICE, free: [] });
  });

  it('[C7.10] counts a request that the service validated and refused: it may bill its validation', async () => {
    await open();
    await books.started(0, 0);
    await books.ended(0, { ...answers.rejected(0), reason: 'invalid_request', httpStatus: 400 });
    await books.started(1, 0);
    await books.ended(1, { ...answers.rejected(0), reason: 'credentials', httpStatus: 401 });
    expect(await books.settle(0)).toEqual({ spent: PRICE, free: [] });
  });

  it('leaves out what has cost nothing: declared lost, said by results, or noted before', async () => {
    await open();
    for (const row of [0, 2, 3, 5]) await books.bought(row, 0);
    await books.started(1, 0);
    await books.ended(1, answers.unconfirmed(0));
    await books.write(1, decisionEntry({ decision: 'declareLost', answer: answers.rejected(0) }));
    await books.journal.putRecord(freeLog(NAMESPACE, books.key(3).creationKey), 0, {
      v: 1,
      kind: 'free',
      by: payerOf(4),
      deducts: false,
      at: inSeconds(0),
    });
    await books.bought(6, 9);
    const segment = await books.unpaid(2, 6, 7);
    const settled = { spent: 2 * PRICE, free: [books.key(6).creationKey] };
    expect(await books.settle(0, [segment])).toEqual(settled);
    for (const row of [1, 2]) expect(await freeOf(row)).toMatchObject({ by: payerOf(0), deducts: false });
    for (const row of [0, 5, 6]) expect(await freeOf(row)).toBeNull();
    expect(await books.settle(0, [segment])).toEqual(settled);
  });

  it('[C7.10] counts a request that a person has sent again: the first one may have been accepted as well', async () => {
    await open();
    await books.started(0, 0);
    await books.ended(0, answers.unconfirmed(0));
    await books.write(0, decisionEntry());
    expect(await books.settle(0)).toEqual({ spent: PRICE, free: [] });
    expect(await freeOf(0)).toBeNull();
  });

  it('waits for a send that is on its way, and for nothing else', async () => {
    await open();
    await books.started(0, 0, { sendWindowEnd: inSeconds(60) });
    await books.started(1, 0, { sendWindowEnd: inSeconds(60) });
    // Of another batch: nobody waits for it.
    await books.started(2, 9, { sendWindowEnd: inSeconds(60) });
    let looks = 0;
    const journal: CreateJournal = {
      ...books.journal,
      read: async (key) => {
        const entries = await books.journal.read(key);
        if (key.creationKey === books.key(0).creationKey && (looks += 1) === 3) {
          await books.ended(0);
          await books.ended(1, answers.refused(0));
        }
        return entries;
      },
    };
    expect(await books.settle(0, [], { deps: { journal } })).toEqual({ spent: PRICE, free: [] });
    expect(looks).toBe(4);
    // It has paused for longer than a beat.
    expect(Object.keys(books.heartbeats[0] as object)).toEqual(['rows', 'waiting']);
  });

  it('counts a send that is certainly over and left no outcome', async () => {
    await open();
    await books.started(0, 0, { sendWindowEnd: inSeconds(0) });
    expect(await books.settle(0)).toEqual({ spent: PRICE, free: [] });
  });

  it('[C7.10] counts a send on its way that the journal has lost meanwhile', async () => {
    await open();
    await books.started(0, 0, { sendWindowEnd: inSeconds(-0.5) });
    let looks = 0;
    const journal: CreateJournal = {
      ...books.journal,
      read: (key) =>
        key.creationKey === books.key(0).creationKey && (looks += 1) > 1
          ? Promise.resolve([])
          : books.journal.read(key),
    };
    expect(await books.settle(0, [], { deps: { journal } })).toEqual({ spent: PRICE, free: [] });
    expect(looks).toBeGreaterThan(1);
  });

  it('says to a person why it cannot be settled now', async () => {
    await open();
    const unavailable = async (...args: Parameters<BooksHarness['settle']>) =>
      ((await books.settle(...args)) as { unavailable?: string }).unavailable;
    expect(await unavailable(0, ['f'.repeat(64)])).toMatch(/artifact store/);
    expect(await unavailable(0, [], { deps: { journal: NO_JOURNAL } })).toMatch(/no create journal/);
  });
});
