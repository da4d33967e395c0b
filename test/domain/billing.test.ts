import fc from 'fast-check';
import { type JsonValue } from '../../src/domain/json';
import { endedBilling, finishedState, readActual, valueAt } from '../../src/domain/money';

describe('what a finished call has cost', () => {
  it.each<JsonValue | undefined>([
    undefined,
    null,
    {},
    [],
    '',
    ' ',
    true,
    { tokens: null },
    { model: 'cine-1' },
    [{}],
  ])('[C1.9] a usage of %j settles nothing: a person must look', (usage) => {
    expect(finishedState(usage)).toBe('needs_review');
  });

  it.each<JsonValue>([
    0,
    12,
    '0.40',
    { seconds: 4 },
    { total: { tokens: 0 } },
    [{ images: 2 }],
    { cost: '1e-2' },
  ])('a usage of %j says how much, without a bill', (usage) => {
    expect(finishedState(usage)).toBe('estimated');
  });
});

describe('a bill', () => {
  const estimate = { microUnits: 400_000, currency: 'USD' };
  const actual = { microUnits: 350_000, currency: 'USD' };

  it('settles what has ended, whatever else is known', () => {
    for (const state of ['estimated', 'needs_review', 'none'] as const)
      expect(endedBilling(estimate, state, { usage: 1, actual })).toEqual({
        ...{ estimate: 400_000, actual: 350_000, currency: 'USD', usage: 1, state: 'settled' },
      });
    expect(endedBilling(null, 'needs_review', { actual })).toMatchObject({ estimate: null, currency: 'USD' });
    expect(endedBilling(estimate, 'estimated', {})).toMatchObject({ actual: null, state: 'estimated' });
  });

  it('[C7.10] settles nothing where another send may be owed too', () => {
    const known = { actual, mayBeOwed: true };
    expect(endedBilling(estimate, 'estimated', known)).toMatchObject({
      actual: 350_000,
      state: 'needs_review',
    });
  });

  it('in another currency than the estimate is unknown', () => {
    const other = { actual: { ...actual, currency: 'EUR' } };
    expect(endedBilling(estimate, 'estimated', other)).toMatchObject({
      ...{ actual: null, currency: 'USD', state: 'estimated' },
    });
  });
});

describe("a service's amount", () => {
  const read = (value: unknown) =>
    readActual({ path: 'cost', currency: 'USD' }, value as JsonValue)?.microUnits;

  it.each([
    [0, 0],
    [0.35, 350_000],
    ['0.35', 350_000],
    [' 12.000001 ', 12_000_001],
    ['0.1000000000', 100_000],
    [999_999_999.5, 999_999_999_500_000],
    ['0', 0],
  ])('%j is %i micro-units', (value, microUnits) => {
    expect(read(value)).toBe(microUnits);
  });

  it.each([
    ...[
      -1,
      '-0.10',
      0.1 + 0.2,
      1e-7,
      1e21,
      Number.NaN,
      Infinity,
      '0.1234567',
      '1e2',
      '',
      '.5',
      '5.',
      '0.35 USD',
    ],
    ...['1,000', '$1', '\uff11', true, null, undefined, {}, [0.35], '9'.repeat(10), '0'.repeat(100_000)],
  ])('[C1.9] %j is unknown, never 0', (value) => {
    expect(read(value)).toBeUndefined();
  });

  it('[C1.9] is exact for each amount of whole micro-units, and otherwise unknown', () => {
    fc.assert(
      fc.property(
        fc.nat(999_999_999),
        fc.nat(999_999),
        fc.constantFrom(1, 10, 1000),
        (units, micro, more) => {
          const text = `${units}.${String(micro).padStart(6, '0')}`;
          expect(read(text)).toBe(units * 1_000_000 + micro);
          expect(read(`${text}${more}`)).toBeUndefined();
        },
      ),
    );
  });

  it('is at the path, in own properties alone', () => {
    const reply = { usage: { cost: 0.35, deep: { er: '1' }, list: [1] } };
    expect(valueAt(reply, 'usage.cost')).toBe(0.35);
    expect(valueAt(reply, 'usage.deep.er')).toBe('1');
    for (const path of [
      'usage.price',
      'cost',
      'usage.cost.more',
      'usage.list.0',
      'constructor.name',
      '__proto__',
    ])
      expect(valueAt(reply, path)).toBeUndefined();
    expect(valueAt(undefined, 'usage')).toBeUndefined();
    expect(valueAt('text', 'length')).toBeUndefined();
  });
});
