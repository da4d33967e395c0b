import fc from 'fast-check';
import {
  batchNumber,
  batchWorkflowId,
  closed,
  emptyBook,
  freeOf,
  grantedTo,
  isClosed,
  opened,
  raised,
  type BookEntry,
} from '../../../src/domain/campaign/budget-book';

const sumOf = ({ closed: paid, open }: BookEntry): number =>
  open.reduce((sum, [, granted]) => sum + (granted ?? 0), paid);

describe('the book of a campaign', () => {
  it('grants what is free of the budget, gives numbers once, and puts cost in the place of a grant', () => {
    const first = opened(emptyBook(20), 50, 100);
    expect(first).toEqual({ closed: 20, open: [[0, 50]], next: 1 });
    const second = opened(first, 50, 100);
    expect(grantedTo(second, 1)).toBe(30);
    expect(grantedTo(opened(second, 1, 100), 2)).toBe(0);
    const after = closed(second, 0, 35, 5);
    expect(after).toEqual({ closed: 50, open: [[1, 30]], next: 2 });
    expect(freeOf(after!, 100)).toBe(20);
    expect(raised(after!, 1, 50, 100)).toEqual({ closed: 50, open: [[1, 50]], next: 2 });
  });

  it('changes nothing for a batch that is not open', () => {
    const book = emptyBook(0);
    expect(closed(book, 0, 1, 0)).toBeUndefined();
    expect(raised(book, 0, 1, 10)).toBeUndefined();
    expect(isClosed(book, 0)).toBe(false);
    const entry = opened(book, 1, 10);
    expect(isClosed(entry, 0)).toBe(false);
    expect(isClosed(closed(entry, 0, 1, 0)!, 0)).toBe(true);
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
    expect(freeOf(closed(entry, 0, 40, 0)!, 1_000)).toBe(955);
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
            entry = closed(entry, one.batch, Math.floor((granted ?? 0) * one.share), 0) ?? entry;
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
