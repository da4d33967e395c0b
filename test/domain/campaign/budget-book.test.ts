import fc from 'fast-check';
import {
  batchNumber,
  billedAgain,
  batchWorkflowId,
  closed,
  emptyBook,
  freeOf,
  grantedTo,
  isClosed,
  opened,
  overBudget,
  raised,
  type BookEntry,
} from '../../../src/domain/campaign/budget-book';

const NOTHING = { deducted: 0, billed: 0 };

const sumOf = ({ closed: paid, billed, open }: BookEntry): number =>
  open.reduce((sum, [, granted]) => sum + (granted ?? 0), paid + billed);

describe('the book of a campaign', () => {
  it('grants what is free of the budget, gives numbers once, and puts cost in the place of a grant', () => {
    const first = opened(emptyBook(20), 50, 100);
    expect(first).toEqual({ closed: 20, billed: 0, open: [[0, 50]], next: 1 });
    const second = opened(first, 50, 100);
    expect(grantedTo(second, 1)).toBe(30);
    expect(grantedTo(opened(second, 1, 100), 2)).toBe(0);
    const after = closed(second, 0, 35, { deducted: 5, billed: 0 });
    expect(after).toEqual({ closed: 50, billed: 0, open: [[1, 30]], next: 2 });
    expect(freeOf(after!, 100)).toBe(20);
    expect(raised(after!, 1, 50, 100)).toEqual({ closed: 50, billed: 0, open: [[1, 50]], next: 2 });
  });

  it('changes nothing for a batch that is not open', () => {
    const book = emptyBook(0);
    expect(closed(book, 0, 1, NOTHING)).toBeUndefined();
    expect(raised(book, 0, 1, 10)).toBeUndefined();
    expect(isClosed(book, 0)).toBe(false);
    const entry = opened(book, 1, 10);
    expect(isClosed(entry, 0)).toBe(false);
    expect(isClosed(closed(entry, 0, 1, NOTHING)!, 0)).toBe(true);
    expect(isClosed(entry, 1)).toBe(false);
  });

  it('raises nothing where nothing is free', () => {
    const entry = opened(emptyBook(0), 10, 10);
    expect(raised(entry, 0, 5, 10)).toBeUndefined();
  });

  it('grants without an end where there is no budget, and nothing more beside such a batch once there is one', () => {
    const entry = opened(emptyBook(5), 50, null);
    expect(grantedTo(entry, 0)).toBeNull();
    expect(freeOf(entry, null)).toBeNull();
    expect(freeOf(entry, 1_000)).toBe(0);
    expect(grantedTo(opened(entry, 50, 1_000), 1)).toBe(0);
    expect(raised(entry, 0, 50, 1_000)).toBeUndefined();
    expect(raised(entry, 0, 50, null)).toBeUndefined();
    expect(freeOf(closed(entry, 0, 40, NOTHING)!, 1_000)).toBe(955);
  });

  const move = fc.oneof(
    fc.record({ do: fc.constant('open' as const), want: fc.nat(60) }),
    fc.record({ do: fc.constant('raise' as const), batch: fc.nat(8), want: fc.nat(60) }),
    // Whatever it was granted, it has cost no more.
    fc.record({
      do: fc.constant('close' as const),
      batch: fc.nat(8),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ do: fc.constant('budget' as const), more: fc.nat(40) }),
  );
  const bill = fc.record({ do: fc.constant('bill' as const), billed: fc.integer({ min: -60, max: 60 }) });

  it('[C4.4a] with bills at any time, grants what cheaper ones free, and nothing beyond dearer ones', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.array(fc.oneof(move, bill), { maxLength: 40 }), (budget, moves) => {
        let entry = emptyBook(0);
        for (const one of moves) {
          const before = entry;
          if (one.do === 'bill') entry = billedAgain(entry, entry.billed, one.billed) ?? entry;
          else if (one.do === 'open') entry = opened(entry, one.want, budget);
          else if (one.do === 'raise') entry = raised(entry, one.batch, one.want, budget) ?? entry;
          else if (one.do === 'close') {
            const granted = grantedTo(entry, one.batch) ?? 0;
            entry = closed(entry, one.batch, Math.floor(granted * one.share), NOTHING) ?? entry;
          }
          // Nothing but a dearer bill adds to what is out beyond the budget.
          const grew = sumOf(entry) > sumOf(before) && one.do !== 'bill';
          if (grew) expect(sumOf(entry)).toBeLessThanOrEqual(budget);
          expect(freeOf(entry, budget)).toBe(Math.max(0, budget - sumOf(entry)));
          const over = overBudget(entry, budget);
          expect(over).toBeLessThanOrEqual(Math.max(0, entry.billed));
          if (over > 0) expect(freeOf(entry, budget)).toBe(0);
        }
        expect(billedAgain(entry, entry.billed + 1, 7)).toBeUndefined();
      }),
    );
  });

  it('never has more out than the budget, whatever is opened, raised and closed in which order', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.array(move, { maxLength: 40 }), (start, moves) => {
        let [entry, budget] = [emptyBook(0), start];
        const given = new Set<number>();
        for (const one of moves) {
          if (one.do === 'budget') budget += one.more;
          else if (one.do === 'open') {
            const batch = entry.next;
            entry = opened(entry, one.want, budget);
            expect(given.has(batch)).toBe(false);
            expect(grantedTo(entry, batch)).toBeLessThanOrEqual(one.want);
            given.add(batch);
          } else if (one.do === 'raise') entry = raised(entry, one.batch, one.want, budget) ?? entry;
          else {
            const granted = grantedTo(entry, one.batch);
            entry = closed(entry, one.batch, Math.floor((granted ?? 0) * one.share), NOTHING) ?? entry;
          }
          expect(sumOf(entry)).toBeLessThanOrEqual(budget);
          expect(freeOf(entry, budget)).toBe(budget - sumOf(entry));
        }
      }),
    );
  });

  it('names each batch once, whatever campaigns are called', () => {
    expect(batchWorkflowId('spring', 7)).toBe('spring/batch/7');
    const name = fc.oneof(fc.string(), fc.constantFrom('a', 'a/batch/1', 'a/batch', 'a/batch/1/batch/2'));
    fc.assert(
      fc.property(name, name, fc.nat(), fc.nat(), (a, b, n, m) => {
        const isSame = a === b && n === m;
        expect(batchWorkflowId(a, n) === batchWorkflowId(b, m)).toBe(isSame);
        expect(batchNumber(a, batchWorkflowId(a, n))).toBe(n);
        if (a !== b) expect(batchNumber(b, batchWorkflowId(a, n))).toBeUndefined();
      }),
    );
    expect(batchNumber('a', 'a/batch/01')).toBeUndefined();
    expect(batchNumber('a', 'a/batch/')).toBeUndefined();
  });
});
