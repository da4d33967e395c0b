import { PassThrough } from 'node:stream';
import { confirmSpend, spendLimitOf, whyNot } from '../../../packages/cli/src/shared/confirm';
import { Report } from '../../../packages/cli/src/shared/report';

const usd = (microUnits: number) => ({ microUnits, currency: 'USD' });
const limit = { microUnits: 500_000, currency: null };

function terminal(isTTY: boolean) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let shown = '';
  output.setEncoding('utf8').on('data', (text: string) => (shown += text));
  return { input, output, shown: () => shown };
}

describe('whether a call may be sent without asking', () => {
  test.each([
    ['below', limit, usd(499_999), true],
    ['exactly', limit, usd(500_000), true],
    ['one micro-unit above', limit, usd(500_001), false],
    ['free by a price rule of 0', { microUnits: 0, currency: null }, usd(0), true],
    ['[C1.5] unknown is never 0', { microUnits: 999_000_000, currency: null }, null, false],
    ['the currency of the rule', { microUnits: 500_000, currency: 'USD' }, usd(1), true],
    ['another currency', { microUnits: 999_000_000, currency: 'EUR' }, usd(1), false],
  ])('%s', (_title, most, estimate, may) => {
    expect(whyNot({ limit: most, estimate }) === undefined).toBe(may);
  });
});

describe('asking a person', () => {
  const question = { limit, estimate: usd(1_200_000) };

  test.each(['y', 'Y', 'yes', ' yes '])('%j agrees', async (answer) => {
    const at = terminal(true);
    const asked = confirmSpend(new Report(), question, at);
    at.input.write(`${answer}\r`);
    await expect(asked).resolves.toBeUndefined();
    expect(at.shown()).toContain('This will cost an estimated 1.20 USD (limit 0.50). Send it? [y/N] ');
  });

  test.each([
    ['an empty line', '\r'],
    ['n', 'n\r'],
    ['anything else', 'yep\r'],
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('%s does not', async (_title, keys) => {
    const at = terminal(true);
    const asked = confirmSpend(new Report(), question, at);
    at.input.write(keys);
    await expect(asked).rejects.toMatchObject({ exitCode: 6, reply: { type: 'spend_not_confirmed' } });
  });

  test('nobody is asked without a terminal, or when stdout belongs to a script', async () => {
    for (const [report, isTTY] of [
      [new Report('text'), false],
      [new Report('jsonl'), true],
    ] as const) {
      const at = terminal(isTTY);
      at.input.write('y\r');
      await expect(confirmSpend(report, question, at)).rejects.toMatchObject({ exitCode: 6 });
      expect(at.shown()).toBe('');
    }
  });
});

describe('the limit', () => {
  test('the option wins over the variable; neither is no limit', () => {
    expect(spendLimitOf('0.5', { MEDIA_MAX_SPEND: '9' })).toEqual(limit);
    expect(spendLimitOf(undefined, { MEDIA_MAX_SPEND: ' 2 EUR ' })).toEqual({
      microUnits: 2_000_000,
      currency: 'EUR',
    });
    expect(spendLimitOf(undefined, { MEDIA_MAX_SPEND: '' })).toBeUndefined();
  });

  test('a limit that is none is refused and never ignored', () => {
    expect(() => spendLimitOf('much', {})).toThrow(/--max-spend/);
    expect(() => spendLimitOf('', {})).toThrow(/--max-spend/);
    expect(() => spendLimitOf(undefined, { MEDIA_MAX_SPEND: '1,50' })).toThrow(/MEDIA_MAX_SPEND/);
  });
});
