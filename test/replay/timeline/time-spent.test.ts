import fc from 'fast-check';
import { timeSpent, type Span } from '../../../packages/replay/src/timeline/time-spent';
import { SPENT, type SpentOn } from '../../../packages/replay/src/timeline/timeline';

const ORDER = Object.keys(SPENT) as SpentOn[];
const spans = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }), fc.constantFrom(...ORDER))
    .map(([from, length, on]): Span => ({ from, to: from + length, on })),
  { maxLength: 12 },
);

describe('where the time went', () => {
  it('every moment counts once, for the first span that covers it', () => {
    fc.assert(
      fc.property(
        spans,
        fc.integer({ min: 0, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        (given, from, length) => {
          const to = from + length;
          const expected = new Map<SpentOn, number>();
          for (let moment = from; moment < to; moment += 1) {
            const on = ORDER.find((name) =>
              given.some((span) => span.on === name && span.from <= moment && moment < span.to),
            );
            expected.set(on ?? 'nothing', (expected.get(on ?? 'nothing') ?? 0) + 1);
          }
          const spent = timeSpent(from, to, given);
          expect(new Map(spent.map(({ on, ms }) => [on, ms]))).toEqual(expected);
          expect(spent.map(({ ms }) => ms)).toEqual(spent.map(({ ms }) => ms).sort((a, b) => b - a));
        },
      ),
    );
  });

  it('rows share the moments in which the workflow itself did nothing', () => {
    const rows = [
      { from: 0, to: 10, on: 'waiting_for_polls', rows: 3 },
      { from: 0, to: 10, on: 'waiting_for_slot', rows: 1 },
      { from: 10, to: 20, on: 'waiting_for_money', rows: 7 },
    ] as const;
    const own: Span = { from: 4, to: 12, on: 'bookkeeping' };
    expect(timeSpent(0, 21, [...rows, own])).toEqual([
      { on: 'bookkeeping', ms: 8 },
      { on: 'waiting_for_money', ms: 8 },
      { on: 'waiting_for_polls', ms: 3 },
      { on: 'waiting_for_slot', ms: 1 },
      { on: 'nothing', ms: 1 },
    ]);
  });

  it('is nothing for a history of one moment', () => {
    expect(timeSpent(5, 5, [{ from: 0, to: 10, on: 'creating' }])).toEqual([]);
  });
});
