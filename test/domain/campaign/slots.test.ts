import fc from 'fast-check';
import { shareSlots } from '../../../src/domain/campaign/slots';

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe('slots of a campaign', () => {
  it('are never more than its concurrency, nor than a batch has rows', () => {
    const holder = fc.record({ slots: fc.nat({ max: 500 }), left: fc.nat({ max: 1_250 }) });
    fc.assert(
      fc.property(
        fc.array(holder, { maxLength: 12 }),
        fc.integer({ min: 1, max: 3_000 }),
        (holders, most) => {
          const slots = shareSlots(holders, most);
          expect(sum(slots)).toBeLessThanOrEqual(most);
          slots.forEach((one, at) => expect(one).toBeLessThanOrEqual(holders[at]?.left ?? 0));
          // What is not given out is less than is worth an order, or nobody has a use for it.
          const unused = most - sum(slots);
          const lacks = holders.some(({ left }, at) => (slots[at] ?? 0) < left);
          if (lacks) expect(unused).toBeLessThan(Math.ceil(most / 100));
        },
      ),
    );
  });

  it('go to the oldest batch first, and are taken from the newest', () => {
    const left = 80;
    expect(
      shareSlots(
        [
          { slots: 0, left },
          { slots: 0, left },
        ],
        100,
      ),
    ).toEqual([80, 20]);
    expect(
      shareSlots(
        [
          { slots: 80, left },
          { slots: 20, left },
        ],
        50,
      ),
    ).toEqual([50, 0]);
    expect(
      shareSlots(
        [
          { slots: 80, left: 30 },
          { slots: 20, left },
        ],
        100,
      ),
    ).toEqual([30, 70]);
  });
});
