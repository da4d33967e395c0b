import fc from 'fast-check';
import { type PriceRule } from '../../src/domain/model-config';
import { billing, estimatePrice, finishedState, formatMoney, readAmount } from '../../src/domain/money';

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
    expect(billing(null, 'reserved')).toEqual({
      estimate: null,
      actual: null,
      currency: null,
      state: 'reserved',
    });
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
    expect(billing({ microUnits: 5, currency }, 'needs_review', { usage: null })).not.toHaveProperty('usage');
  });

  it.each([
    [{ cost: 0 }, 'estimated'],
    [0, 'estimated'],
    [{ tokens: 7 }, 'estimated'],
    ['n/a', 'needs_review'],
    [false, 'needs_review'],
  ] as const)('[C1.9] with usage %j it is %s, and keeps it as it came', (usage, state) => {
    expect(finishedState(usage)).toBe(state);
    expect(billing(null, finishedState(usage), { usage })).toMatchObject({ usage, state, estimate: null });
  });
});

describe('amounts', () => {
  it.each([
    [0, '0.00 USD'],
    [1, '0.000001 USD'],
    [50_000, '0.05 USD'],
    [1_200_000, '1.20 USD'],
    [1_234_560, '1.23456 USD'],
    [120_000_000, '120.00 USD'],
    [9_007_199_254_740_991, '9007199254.740991 USD'],
  ])('%i micro-units are %s', (microUnits, text) => {
    expect(formatMoney({ microUnits, currency })).toBe(text);
  });

  it.each([
    ['0.50', 500_000, null],
    ['0.50USD', 500_000, 'USD'],
    [' 0.5 eur ', 500_000, 'EUR'],
    ['12', 12_000_000, null],
    ['0', 0, null],
    ['0.000001', 1, null],
    ['999999999.999999', 999_999_999_999_999, null],
  ])('%j is read', (text, microUnits, unit) => {
    expect(readAmount(text)).toEqual({ microUnits, currency: unit });
  });

  it.each(['', '-1', '+1', '1,5', '.5', '1.', '1e3', '0.0000001', '1000000000', 'USD 1', '1 US', '0x1', '١'])(
    '%j is no amount',
    (text) => {
      expect(readAmount(text)).toBeUndefined();
    },
  );

  it('every amount that is shown is read back unchanged', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (microUnits) => {
        expect(readAmount(formatMoney({ microUnits, currency }))).toEqual({ microUnits, currency });
      }),
    );
  });
});
