import fc from 'fast-check';
import { PAGE_ROWS } from '../../../src/domain/campaign/plan';
import {
  partOf,
  rowNumbers,
  RowQueue,
  type RowSet,
  sizeOf,
  without,
} from '../../../src/domain/campaign/row-sets';

const plan = (planned: number, index = 'a', generation = 0) => ({ index, generation, planned });

/** Every row by its page, as often as it stands in these sets. */
function names(sets: readonly RowSet[]): string[] {
  return sets.flatMap((set) => rowNumbers(set).map((row) => `${set.index}/${set.page}/${row}`));
}

describe('rows that no batch has', () => {
  it('are given out in their order, each once, in batches of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 350 }), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 260 }),
        (plans, most) => {
          const queue = new RowQueue();
          plans.forEach((planned, number) => queue.addPlan(plan(planned, `plan${number}`, number)));
          const all = plans.flatMap((planned, number) =>
            Array.from(
              { length: planned },
              (_, row) => `plan${number}/${Math.floor(row / PAGE_ROWS)}/${row % PAGE_ROWS}`,
            ),
          );
          const taken: string[] = [];
          while (queue.size() > 0) {
            const before = queue.size();
            const sets = queue.take(most);
            expect(sizeOf(sets)).toBe(Math.min(most, before));
            expect(queue.size()).toBe(before - sizeOf(sets));
            taken.push(...names(sets));
          }
          expect(taken).toEqual(all);
        },
      ),
    );
  });

  it('that were handed back go first, and of them those that were started', () => {
    const queue = new RowQueue();
    queue.addPlan(plan(300));
    const [page] = queue.take(100) as [RowSet];
    const fresh = partOf(page, [4, 5]) as RowSet;
    const started = partOf(page, [1, 2], 1_000) as RowSet;
    queue.handBack([fresh, started]);
    expect([queue.size(), queue.hasStarted()]).toEqual([204, true]);
    expect(queue.take(3)).toEqual([started, partOf(page, [4])]);
    expect(queue.hasStarted()).toBe(false);
    expect(names(queue.take(2))).toEqual(['a/0/5', 'a/1/0']);
  });

  it('survive a continue-as-new', () => {
    const queue = new RowQueue();
    queue.addPlan(plan(150));
    queue.handBack([partOf({ index: 'b', page: 3, generation: 1, size: 9 }, [8], 5) as RowSet]);
    const next = new RowQueue(JSON.parse(JSON.stringify(queue.save())) as ReturnType<RowQueue['save']>);
    expect(next.hasReplacing()).toBe(true);
    expect(names(next.take(500))).toEqual(names(queue.take(500)));
  });
});

it('what is left of sets without the rows in others', () => {
  const rows = fc.uniqueArray(fc.nat({ max: PAGE_ROWS - 1 }), { minLength: 1 });
  fc.assert(
    fc.property(rows, rows, (had, ended) => {
      const page: RowSet = { index: 'a', page: 1, generation: 0, size: PAGE_ROWS };
      const sets = [partOf(page, had) as RowSet, { ...page, page: 2, size: 3 }];
      const left = without(sets, [partOf(page, ended) as RowSet]);
      const gone = new Set(ended);
      expect(names(left).sort()).toEqual(
        names(sets)
          .filter((name) => !(name.startsWith('a/1/') && gone.has(Number(name.slice(4)))))
          .sort(),
      );
    }),
  );
});
