import fc from 'fast-check';
import { billing, finishedState } from '../../src/domain/billing';
import { type PriceRule } from '../../src/domain/model-config';
import { estimatePrice } from '../../src/domain/price';

const currency = 'USD';
const perTask: PriceRule = { per: 'task', microUnits: 250_000, currency };
const perSecond: PriceRule = { per: 'second', microUnits: 100_000, currency };
const bySpecification: PriceRule = {
  per: 'specification',
  currency,
  specifications: [
    { resolution: '1080p', durationSeconds: 8, microUnits: 900_000 },
    { resolution: '1080p', microUnits: 500_000 },
    { size: '4096x4096', quality: 'high', microUnits: 300_000 },
  ],
};

describe('an estimate', () => {
  it('[C1.5] is per task, per second or per specification, as the list says', () => {
    expect(estimatePrice(perTask, { durationSeconds: 8 })).toEqual({ microUnits: 250_000, currency });
    expect(estimatePrice(perSecond, { durationSeconds: 8 })).toEqual({ microUnits: 800_000, currency });
    expect(estimatePrice(bySpecification, { resolution: '1080p', durationSeconds: 8 })).toEqual({
      microUnits: 900_000,
      currency,
    });
    expect(estimatePrice(bySpecification, { resolution: '1080p', durationSeconds: 4 })?.microUnits).toBe(
      500_000,
    );
    expect(estimatePrice(bySpecification, { size: '4096x4096', quality: 'high' })?.microUnits).toBe(300_000);
  });

  it('[C1.5] is unknown, never 0, when the list does not say', () => {
    expect(estimatePrice(undefined, { durationSeconds: 8 })).toBeNull();
    expect(estimatePrice(perSecond, {})).toBeNull();
    expect(estimatePrice(bySpecification, { resolution: '720p' })).toBeNull();
    expect(billing(null, 'reserved')).toEqual({ estimate: null, currency: null, state: 'reserved' });
  });

  it('a price of 0 that the list names stays 0', () => {
    expect(estimatePrice({ per: 'task', microUnits: 0, currency }, {})).toEqual({ microUnits: 0, currency });
  });

  it('[C1.7] grows with n', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (n) => {
        expect(estimatePrice(perTask, { n })?.microUnits).toBe(n * 250_000);
        expect(estimatePrice(bySpecification, { size: '4096x4096', quality: 'high', n })?.microUnits).toBe(
          n * 300_000,
        );
      }),
    );
  });
});

describe('the bill of a finished call', () => {
  it('[C1.9] without usage needs a look: nobody knows that it was free', () => {
    expect(finishedState(undefined)).toBe('needs_review');
    expect(finishedState(null)).toBe('needs_review');
    expect(billing({ microUnits: 5, currency }, 'needs_review', null)).not.toHaveProperty('usage');
  });

  it.each([{ cost: 0 }, 0, { tokens: 7 }, 'n/a', false])(
    'with usage %j is settled and keeps it as it came',
    (usage) => {
      expect(finishedState(usage)).toBe('settled');
      expect(billing(null, finishedState(usage), usage)).toMatchObject({
        usage,
        state: 'settled',
        estimate: null,
      });
    },
  );
});
