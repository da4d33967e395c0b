import { createPageReader } from '../../../src/activities/campaign/open-page';
import { type BookMove, type SettledBatch } from '../../../src/domain/campaign/campaign-activities';
import { type RecordedAnswer } from '../../../src/domain/log-entries';
import { ArtifactError } from '../../../src/stores/artifacts/artifact-store';
import { answers } from '../../domain/create-answers';
import { billEntry, decisionEntry } from '../../support/log-entries';
import { BooksHarness, PRICE } from './books-harness';

const lostResults: RecordedAnswer = {
  ...{ outcome: 'results_lost', sendAttempt: 0, sent: true, account: 'default@00000000', estimate: null },
  ...{ images: [], created: null, reason: 'storage', message: 'lost' },
};
const declareLost = { decision: 'declareLost', answer: answers.rejected(0, 'declared_lost') } as const;

describe('the bills of a campaign', () => {
  let books: BooksHarness;
  beforeEach(async () => {
    books = await BooksHarness.open();
  });
  afterEach(() => books.close());

  const open = async (known: number | null = null, rows = [books.page(0), books.page(1)]) =>
    books.kept({ known, move: { do: 'open', batches: [rows], fences: [], want: null } });
  const billed = (row: number, microUnits: number, own: Parameters<typeof billEntry>[0] = {}) =>
    books.write(row, billEntry({ microUnits, ...own }));
  const kept = (known: number, move: BookMove) => books.kept({ known, budget: 100, move });

  it('are counted beyond the estimates, for the batch that has paid, and the newest of a send alone', async () => {
    await open();
    await open(0, [books.page(0)]);
    expect(await books.countBills(0, 2)).toEqual({ billed: 0, next: null });
    await books.bought(0, 0);
    await billed(0, 3 * PRICE);
    await billed(0, 4, { reference: 'corrected' });
    await books.bought(1, 1);
    await billed(1, 2 * PRICE);
    await books.bought(2, 0);
    await books.bought(3, 9);
    await billed(3, 100);
    expect(await books.countBills(0, 2)).toEqual({ billed: 4 - PRICE + PRICE, next: null });
    expect(await books.countBills(0, 1)).toEqual({ billed: 4 - PRICE, next: null });
    expect(await books.countBills(1, 2)).toEqual({ billed: PRICE, next: null });
  });

  it('are counted in full where there is no charge, and not before the outcome is known', async () => {
    await open();
    await books.started(0, 0);
    await billed(0, 0);
    await books.started(1, 0);
    await books.ended(1, answers.refused(0));
    await billed(1, 3);
    await books.started(2, 0);
    await books.ended(2, answers.unconfirmed(0));
    await billed(2, 4);
    expect(await books.countBills(0, 1)).toEqual({ billed: 3 + (4 - PRICE), next: null });
    await books.write(2, decisionEntry(declareLost));
    await books.ended(0, answers.created(0));
    expect(await books.countBills(0, 1)).toEqual({ billed: 3 + 4 - PRICE, next: null });
  });

  it('in another currency than the estimate are not counted', async () => {
    await open();
    await books.bought(0, 0);
    await billed(0, 1, { currency: 'EUR' });
    expect(await books.countBills(0, 1)).toEqual({ billed: 0, next: null });
  });

  it('are counted also if the pages of an earlier run are gone, and not while the store is down', async () => {
    await open();
    await open(0, [books.page(0)]);
    await books.bought(0, 1);
    await billed(0, 3 * PRICE);
    const pages = createPageReader(books.deps.artifacts);
    expect((await pages.page(books.page(1))).rows).toHaveLength(5);
    const artifacts = (code: 'not_found' | 'storage') =>
      ({
        ...books.deps.artifacts,
        read: (ref: { sha256: string }) =>
          gone.has(ref.sha256)
            ? Promise.reject(new ArtifactError(code, 'gone'))
            : books.deps.artifacts.read(ref),
      }) as typeof books.deps.artifacts;
    const plan = JSON.parse(await textOf(books, books.index)) as { pages: { sha256: string }[] };
    const gone = new Set([plan.pages[1]!.sha256]);
    const without = (code: 'not_found' | 'storage') => ({ deps: { artifacts: artifacts(code) } });
    expect(await books.countBills(0, 2, without('not_found'))).toEqual({
      ...{ billed: 2 * PRICE, next: null, isPartial: true },
    });
    expect(await books.countBills(0, 2, without('storage'))).toHaveProperty('unavailable');
  });

  it('change the book unless it has changed since the count began', async () => {
    await open();
    expect(await kept(0, { do: 'bill', was: 0, billed: -7 })).toMatchObject({ n: 1, book: { billed: -7 } });
    expect(await kept(1, { do: 'bill', was: 0, billed: 9 })).toMatchObject({ n: 1, book: { billed: -7 } });
    expect(await kept(1, { do: 'bill', was: -7, billed: -7 })).toMatchObject({ n: 1, book: { billed: -7 } });
    expect(await kept(0, { do: 'bill', was: -7, billed: 9 })).toMatchObject({ n: 1, conflict: true });
  });

  it('count in full in the entry that gives their charge back', async () => {
    await open();
    await books.bought(0, 0);
    await books.started(1, 0);
    await books.ended(1, answers.unconfirmed(0));
    await billed(1, 4);
    const { billed: before } = (await books.countBills(0, 1)) as { billed: number };
    expect(before).toBe(4 - PRICE);
    await kept(0, { do: 'bill', was: 0, billed: before });
    await books.write(1, decisionEntry(declareLost));
    const free = [books.key(1).creationKey];
    const close = { do: 'close', batch: 0, spent: 2 * PRICE, run: 'r', free } as const;
    expect(await kept(1, close)).toMatchObject({ n: 2, book: { closed: PRICE, billed: 4 } });
    expect(await books.countBills(0, 1)).toEqual({ billed: 4, next: null });
  });

  it('[C1.7] count in full also where the journal says what a batch has cost', async () => {
    await open();
    await books.started(1, 0);
    await books.ended(1, answers.unconfirmed(0));
    await billed(1, 4);
    await kept(0, { do: 'bill', was: 0, billed: 4 - PRICE });
    await books.write(1, decisionEntry(declareLost));
    const settled = await books.settle(0);
    expect(settled).toEqual({ spent: 0, free: [books.key(1).creationKey] });
    // The result of the activity may be lost, and another attempt finds what the first one has recorded.
    expect(await books.settle(0)).toEqual(settled);
    const close = {
      do: 'close',
      batch: 0,
      run: null,
      ...(settled as { spent: number; free: string[] }),
    } as const;
    expect(await kept(1, close)).toMatchObject({ n: 2, book: { closed: 0, billed: 4 } });
  });

  it('of a send that was made again count beyond its charge, which the settled batch keeps', async () => {
    await open();
    await books.started(1, 0);
    await books.ended(1, answers.unconfirmed(0));
    await billed(1, 3 * PRICE);
    await books.write(1, decisionEntry({ decision: 'resubmit', answer: null }));
    await books.started(1, 0, { nonce: 'second', sender: 'later/1' });
    await books.ended(1, answers.unconfirmed(1), 'second');
    await billed(1, 4, { about: 'second' });
    await books.write(1, decisionEntry({ ...declareLost, about: 'second' }));
    const settled = await books.settle(0);
    expect(settled).toEqual({ spent: PRICE, free: [books.key(1).creationKey] });
    const counted = await books.countBills(0, 1);
    expect(counted).toEqual({ billed: 2 * PRICE + 4, next: null });
    const close = { do: 'close', batch: 0, run: null, ...(settled as SettledBatch) } as const;
    expect(await kept(0, close)).toMatchObject({ book: { closed: PRICE } });
    expect(await books.countBills(0, 1)).toEqual(counted);
  });

  it('of lost results count beyond their charge, which no decision gives back', async () => {
    await open();
    await books.started(1, 0);
    await books.ended(1, lostResults);
    await books.write(1, decisionEntry(declareLost));
    expect(await books.settle(0)).toEqual({ spent: PRICE, free: [] });
    await billed(1, 3 * PRICE);
    expect(await books.countBills(0, 1)).toEqual({ billed: 2 * PRICE, next: null });
  });
});

async function textOf({ deps }: BooksHarness, sha256: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await deps.artifacts.read({ sha256 })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
