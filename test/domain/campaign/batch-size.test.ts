import fc from 'fast-check';
import { shareSlots } from '../../../src/domain/campaign/concurrency';

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe('slots of a campaign', () => {
  it('are never used by more rows than its concurrency', () => {
    const holder = fc.record({ slots: fc.nat({ max: 500 }), left: fc.nat({ max: 1_250 }) });
    fc.assert(
      fc.property(
        fc.array(holder, { maxLength: 12 }),
        fc.integer({ min: 1, max: 3_000 }),
        (holders, most) => {
          const slots = shareSlots(holders, most);
          const used = holders.map(({ left }, at) => Math.min(left, slots[at] ?? 0));
          expect(sum(used)).toBeLessThanOrEqual(most);
          // What is not given out is less than is worth an order, or nobody has a use for it.
          const lacks = holders.some(({ left }, at) => (slots[at] ?? 0) < left);
          if (lacks) expect(most - sum(used)).toBeLessThan(Math.ceil(most / 100));
        },
      ),
    );
  });

  it('go to the oldest batch first, and are taken from the newest', () => {
    const left = 80;
    const none = { slots: 0, left };
    expect(shareSlots([none, none], 100)).toEqual([80, 20]);
    const [all, few] = [
      { slots: 80, left },
      { slots: 20, left },
    ];
    expect(shareSlots([all, few], 50)).toEqual([50, 0]);
  });

  it('of rows that ended go to others, and no order says so to the batch that had them', () => {
    const [old, next] = [
      { slots: 80, left: 30 },
      { slots: 20, left: 80 },
    ];
    expect(shareSlots([old, next], 100)).toEqual([80, 70]);
  });
});
