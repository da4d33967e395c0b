import fc from 'fast-check';
import { type BatchNeeds, nextGrant, resumesSkipped } from '../../../src/domain/campaign/budget-book';

const batch: fc.Arbitrary<BatchNeeds> = fc.record({
  batch: fc.nat(20),
  needs: fc.option(
    fc.tuple(fc.integer({ min: 1, max: 50 }), fc.nat(500)).map(([row, more]) => ({ row, all: row + more })),
  ),
  settling: fc.nat(2),
});

describe('a campaign that runs out of money', () => {
  it('raises only the grant of a batch whose cheapest row fits', () => {
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 6 }), fc.nat(60), (batches, free) => {
        const next = nextGrant(batches, batches.length, free);
        const fits = batches.some(({ needs }) => needs !== null && needs.row <= free);
        expect(next?.do === 'raise').toBe(fits);
      }),
    );
  });

  it('stops only when every open batch waits for more than is free, and nothing in flight may give money back', () => {
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 6 }), fc.nat(2), fc.nat(60), (batches, silent, free) => {
        const next = nextGrant(batches, batches.length + silent, free);
        const isSpent =
          silent === 0 &&
          batches.length > 0 &&
          batches.every(({ needs, settling }) => needs !== null && needs.row > free && settling === 0);
        expect(next?.do === 'stop').toBe(isSpent);
      }),
    );
  });

  it('resumes skipped rows when the cheapest fits, and not when the last round with as much money bought none', () => {
    expect(resumesSkipped(5, 100, 40, null)).toBe(true);
    expect(resumesSkipped(5, 39, 40, null)).toBe(false);
    expect(resumesSkipped(0, 100, 40, null)).toBe(false);
    expect(resumesSkipped(5, null, 40, null)).toBe(false);
    expect(resumesSkipped(5, 100, null, null)).toBe(false);
    expect(resumesSkipped(5, 100, 40, { skipped: 5, free: 100 })).toBe(false);
    expect(resumesSkipped(4, 100, 40, { skipped: 5, free: 100 })).toBe(true);
    expect(resumesSkipped(5, 101, 40, { skipped: 5, free: 100 })).toBe(true);
  });
});
