import fc from 'fast-check';
import { canonical, fingerprintText } from '../../src/domain/fingerprint';
import { billing, estimatePrice, finishedState, formatMoney, readAmount } from '../../src/domain/money';

describe('prices', () => {
  const micro = fc.integer({ min: 0, max: 1_000_000_000 });

  it('an amount is read back exactly as it was written', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999_999_999_999 }),
        fc.constantFrom('USD', 'EUR'),
        (microUnits, currency) =>
          expect(readAmount(formatMoney({ microUnits, currency }))).toEqual({ microUnits, currency }),
      ),
    );
  });

  it('whatever is read as an amount is a safe whole number of micro-units', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^\d{1,12}(\.\d{0,8})? ?[A-Za-z]{0,4}$/));
    fc.assert(
      fc.property(text, (one) => {
        const amount = readAmount(one);
        return amount === undefined || (Number.isSafeInteger(amount.microUnits) && amount.microUnits >= 0);
      }),
    );
  });

  it('n results cost n times one, in whole micro-units', () => {
    fc.assert(
      fc.property(micro, fc.integer({ min: 1, max: 1_000 }), (microUnits, n) => {
        const rule = { per: 'task', microUnits, currency: 'USD' } as const;
        return estimatePrice(rule, { n })?.microUnits === microUnits * n;
      }),
    );
  });

  it('a price is exact or unknown, however large the numbers are', () => {
    const large = fc.oneof(fc.maxSafeNat(), micro);
    fc.assert(
      fc.property(
        large,
        fc.integer({ min: 1, max: 2 ** 31 }),
        fc.constantFrom('task', 'second'),
        (microUnits, n, per) => {
          const found = estimatePrice({ per, microUnits, currency: 'USD' }, { n, durationSeconds: n });
          const exact = BigInt(microUnits) * BigInt(n) * (per === 'second' ? BigInt(n) : 1n);
          const isExact = exact <= BigInt(Number.MAX_SAFE_INTEGER);
          expect(found?.microUnits ?? null).toBe(isExact ? Number(exact) : null);
        },
      ),
    );
  });

  it('a price per second grows with the seconds, and without them nothing is made up', () => {
    fc.assert(
      fc.property(micro, fc.nat(86_400), (microUnits, durationSeconds) => {
        const rule = { per: 'second', microUnits, currency: 'USD' } as const;
        expect(estimatePrice(rule, { durationSeconds })?.microUnits).toBe(microUnits * durationSeconds);
        expect(estimatePrice(rule, {})).toBeNull();
      }),
    );
  });

  it('of a price list only a line counts that fits in every key', () => {
    const word = fc.constantFrom('720p', '1080p', '4K');
    const line = fc.record(
      { resolution: word, durationSeconds: fc.integer({ min: 1, max: 3 }), microUnits: micro },
      { requiredKeys: ['microUnits'] },
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 6 }),
        word,
        fc.integer({ min: 1, max: 3 }),
        (specifications, resolution, durationSeconds) => {
          const found = estimatePrice(
            { per: 'specification', currency: 'USD', specifications },
            { resolution, durationSeconds },
          );
          const fitting = specifications.filter(
            (one) =>
              (one.resolution ?? resolution) === resolution &&
              (one.durationSeconds ?? durationSeconds) === durationSeconds,
          );
          expect(found?.microUnits ?? null).toBe(fitting[0]?.microUnits ?? null);
        },
      ),
    );
  });

  it('a bill without a number in its usage is never settled, and an unknown estimate is never 0', () => {
    fc.assert(
      fc.property(fc.option(fc.jsonValue()), fc.option(micro), (usage, microUnits) => {
        const bill = billing(microUnits === null ? null : { microUnits, currency: 'USD' }, 'reserved');
        expect(bill.estimate).toBe(microUnits);
        if (!/\d/.test(JSON.stringify(usage))) expect(finishedState(usage as never)).toBe('needs_review');
        expect(finishedState({ more: usage, seconds: 4 } as never)).toBe('estimated');
      }),
    );
  });
});

describe('fingerprints', () => {
  const fields = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 });
  const shuffled = (value: object) => Object.fromEntries(Object.entries(value).reverse());
  const of = (request: object, account = 'a@0') =>
    fingerprintText({ operation: 'create_video', request: { model: 'm', prompt: 'p', ...request } }, account);

  it('the order of fields and fields that are undefined change nothing', () => {
    fc.assert(
      fc.property(fields, (given) => {
        expect(of(shuffled({ fields: shuffled(given), resolution: '720p' }))).toBe(
          of({ resolution: '720p', fields: given }),
        );
        expect(of({ fields: given, aspectRatio: undefined })).toBe(of({ fields: given }));
      }),
    );
  });

  it('another prompt, account or field is another request', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        fc.pre(a !== b);
        expect(of({ prompt: a })).not.toBe(of({ prompt: b }));
        expect(of({}, a)).not.toBe(of({}, b));
        expect(of({ fields: { x: a } })).not.toBe(of({ fields: { x: b } }));
      }),
    );
  });

  it('the canonical form of a canonical form is the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const once = canonical(value);
        expect(JSON.stringify(canonical(once))).toBe(JSON.stringify(once));
      }),
    );
  });
});
