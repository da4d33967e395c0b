import fc from 'fast-check';
import { LeaseBook } from '../../../src/domain/campaign/lease-book';
import { pageName } from '../../../src/domain/campaign/messages';
import { packRows, unpackRows } from '../../../src/domain/campaign/row-set';

const plan = (pages: number, generation = 0) => ({ index: `index-${generation}`, generation, pages });

describe('leases of pages', () => {
  it('give every page out once, in order, over plans and over a save', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 4 }), fc.nat(5), (sizes, cut) => {
        let book = new LeaseBook();
        sizes.forEach((pages, generation) => book.addPlan(plan(pages, generation)));
        const given: string[] = [];
        for (let n = 0; book.hasPages(); n += 1) {
          if (n === cut)
            book = new LeaseBook(JSON.parse(JSON.stringify(book.save())) as ReturnType<typeof book.save>);
          const lease = book.lend(n % 3);
          given.push(`${lease?.generation}/${lease?.page}`);
        }
        const all = sizes.flatMap((pages, generation) =>
          Array.from({ length: pages }, (_, page) => `${generation}/${page}`),
        );
        expect(given).toEqual(all);
        expect(book.isDone()).toBe(all.length === 0);
        for (const { lease, index, page } of [0, 1, 2].flatMap((lane) => book.of(lane)))
          expect(book.close(lease, pageName({ index, page }), 0)).toBe(false);
        expect(book.isDone()).toBe(true);
      }),
    );
  });

  it('notice rows that come twice, and leases that are nobody’s', () => {
    const book = new LeaseBook();
    book.addPlan(plan(1));
    book.lend(0);
    expect(book.note(0, 'index-0/0', packRows([0, 5]))).toBe(0);
    expect(book.note(0, 'index-0/0', packRows([5, 6]))).toBe(1);
    expect(unpackRows(book.of(0)[0]?.done ?? '')).toEqual(new Set([0, 5, 6]));
    expect(book.note(7, 'index-0/0', packRows([1]))).toBeNull();
  });

  it('take no word for another page than theirs: numbers are given anew after a reset', () => {
    const book = new LeaseBook();
    book.addPlan(plan(1));
    book.lend(0);
    expect(book.note(0, 'index-7/0', packRows([0]))).toBeNull();
    expect(book.close(0, 'index-7/0', 0)).toBe(false);
    expect(book.has(0)).toBe(true);
  });

  it('stay open until every row of them has come', () => {
    const book = new LeaseBook();
    book.addPlan(plan(1));
    book.lend(0);
    book.note(0, 'index-0/0', packRows([0, 1]));
    expect(book.close(0, 'index-0/0', 3)).toBe(true);
    expect(book.isDone()).toBe(false);
    book.note(0, 'index-0/0', packRows([2]));
    expect(book.close(0, 'index-0/0', 3)).toBe(false);
    expect(book.isDone()).toBe(true);
  });

  it('pack and unpack any set of rows', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(99)), (rows) => {
        expect(unpackRows(packRows(rows))).toEqual(new Set(rows));
      }),
    );
  });

  it('[C4.4a] keep what the journal knows of a page until its lane has said what it holds', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('lend' as const), lane: fc.nat(2) }),
      fc.record({ do: fc.constant('see' as const), lease: fc.nat(8) }),
      fc.record({ do: fc.constant('forget' as const), lane: fc.nat(2) }),
      fc.record({ do: fc.constant('look' as const) }),
      fc.record({ do: fc.constant('save' as const) }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
        fc.array(step, { maxLength: 30 }),
        (money, steps) => {
          let book = new LeaseBook();
          book.addPlan(plan(money.length));
          // Pages that were looked at since their lane, if any, last spoke of them.
          let looked = new Set<number>();
          const seen = new Set<number>();
          for (const now of steps) {
            if (now.do === 'lend') book.lend(now.lane);
            else if (now.do === 'save')
              book = new LeaseBook(JSON.parse(JSON.stringify(book.save())) as ReturnType<typeof book.save>);
            else if (now.do === 'forget') {
              for (const { page } of book.of(now.lane)) seen.delete(page);
              book.forget(now.lane);
            } else if (now.do === 'see') {
              book.see(now.lease, `index-0/${now.lease}`);
              if (!book.has(now.lease)) continue;
              seen.add(now.lease);
              looked.delete(now.lease);
            } else {
              const ranges = book.unseen();
              const found = ranges.flatMap(({ from, until }, range) =>
                money.flatMap((amount, page) =>
                  amount > 0 && page >= from && page < until ? [[range, page, amount] as const] : [],
                ),
              );
              book.find(ranges, { found });
              looked = new Set(money.keys());
              for (const page of seen) looked.delete(page);
            }
            const { lent, ahead } = book.foundMoney();
            const sum = [...looked].reduce((all, page) => all + (money[page] ?? 0), 0);
            expect(lent + ahead).toBe(sum);
          }
          expect(book.unseen().reduce((pages, { from, until }) => pages + until - from, 0)).toBe(
            money.length - seen.size,
          );
        },
      ),
    );
  });

  it('keep nothing that a look finds on a page whose lane spoke meanwhile', () => {
    const book = new LeaseBook();
    book.addPlan(plan(2));
    book.lend(0);
    const ranges = book.unseen();
    book.see(0, 'index-0/0');
    book.find(ranges, {
      found: [
        [0, 0, 5],
        [1, 1, 7],
      ],
    });
    expect(book.foundMoney()).toEqual({ lent: 0, ahead: 7 });
    book.lend(1);
    expect(book.foundMoney()).toEqual({ lent: 7, ahead: 0 });
  });
});
