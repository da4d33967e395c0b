import fc from 'fast-check';
import { currenciesOf, readInvoiceAmount } from '../../../packages/cli/src/money/check-amounts';
import { formatMoney } from '../../../src/domain/money';

const micro = (text: string, decimal?: '.' | ','): number | string => {
  const read = readInvoiceAmount(text, decimal);
  return 'problem' in read ? read.problem : read.microUnits;
};

describe('amounts of an invoice', () => {
  it.each([
    ['1,234.56', 1_234_560_000],
    ['1.234,56', 1_234_560_000],
    ['1 234,56', 1_234_560_000],
    ['1\u00a0234,56', 1_234_560_000],
    ['1\u202f234,56 €', 1_234_560_000],
    ["1'234.56", 1_234_560_000],
    ['1.234.567', 1_234_567_000_000],
    ['12,345,678.9', 12_345_678_900_000],
    ['$0.35', 350_000],
    ['0.35 USD', 350_000],
    ['USD 0.35', 350_000],
    ['(0.35)', -350_000],
    ['$(0.35)', -350_000],
    ['(0.35) USD', -350_000],
    ['-0.35', -350_000],
    ['-$0.35', -350_000],
    ['$-0.35', -350_000],
    ['\u22120,35', -350_000],
    ['0.35-', -350_000],
    ['+0.35', 350_000],
    ['0', 0],
    ['-0.00', 0],
    ['12', 12_000_000],
    ['0.350', 350_000],
    ['.5', 500_000],
    ['5.', 5_000_000],
    ['0,35', 350_000],
    ['1234,567', 1_234_567_000],
    ['0.3500000000', 350_000],
    ['0.0000004', 0],
    ['0.0000005', 1],
    ['-0.0000015', -2],
    ['3.5e-05', 35],
    ['1E2', 100_000_000],
    ['US$1.5', 1_500_000],
  ])('%s is %d micro-units', (text, expected) => {
    expect(micro(text)).toBe(expected);
  });

  it.each(['1,234', '1.234', '12,345', '-1,234', '$1.234', '999.999'])(
    '%s is not guessed, and is clear with a decimal mark',
    (text) => {
      expect(micro(text)).toMatch(/can mean two amounts.*--decimal \. or --decimal ,$/);
      const [point, comma] = [micro(text, '.'), micro(text, ',')];
      expect(Math.max(Math.abs(Number(point)), Math.abs(Number(comma)))).toBe(
        1_000 * Math.min(Math.abs(Number(point)), Math.abs(Number(comma))),
      );
    },
  );

  it.each([
    ['', /^is not an amount/],
    ['free', /^is not an amount/],
    ['a secret boat', /^is not an amount/],
    ['0.35 0.35', /^is not an amount/],
    ['1,23.4,5', /^is not an amount/],
    ['(-0.35)', /^is not an amount/],
    ['--1', /^is not an amount/],
    ['USD 1 USD', /^is not an amount/],
    ['1.2.3', /^is not an amount/],
    ['0x10', /^is not an amount/],
    ['NaN', /^is not an amount/],
    ['99999999999', /^is too large/],
  ])('%s is refused', (text, problem) => {
    expect(micro(text)).toMatch(problem);
  });

  it('a given mark rejects the other one', () => {
    expect(micro('0.35', ',')).toBe('is not an amount with --decimal ",".');
    expect(micro('0,35', '.')).toBe('is not an amount with --decimal ".".');
  });

  it('what this package prints is read back, whatever the sign, the unit and the separators', () => {
    const amounts = fc.integer({ min: -(10 ** 13), max: 10 ** 13 });
    fc.assert(
      fc.property(amounts, fc.constantFrom('', ' USD', ' EUR'), fc.boolean(), (microUnits, unit, isComma) => {
        const printed = formatMoney({ microUnits, currency: null });
        const [whole = '', decimals = ''] = printed.split('.');
        const grouped = whole.replace(/\B(?=(\d{3})+$)/g, isComma ? '.' : ',');
        const mark = isComma ? ',' : '.';
        for (const body of [`${whole}${mark}${decimals}`, `${grouped}${mark}${decimals}`])
          expect(micro(`${body}${unit}`, mark)).toBe(microUnits);
        const read = micro(`${printed}${unit}`);
        if (typeof read === 'number') expect(read).toBe(microUnits);
        else expect(read).toMatch(/two amounts/);
      }),
    );
  });

  it('no text makes it throw, and an amount is a safe integer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+(]?[\d.,' e$]{0,40}\)?$/)), (text) => {
        const read = readInvoiceAmount(text);
        expect('problem' in read || Number.isSafeInteger(read.microUnits)).toBe(true);
      }),
    );
  });

  it('a symbol names all currencies that write it', () => {
    expect(currenciesOf('usd')).toEqual(['USD']);
    expect(currenciesOf('€')).toEqual(['EUR']);
    expect(currenciesOf('$')).toContain('CAD');
    expect(currenciesOf('₿')).toEqual([]);
  });
});
