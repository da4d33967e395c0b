import { parseArguments } from '../../bench/framework/arguments';
import { goal } from '../../bench/framework/goal';
import { type BenchResult, resultText } from '../../bench/framework/result-text';
import { medianAndSpread, quantile, summary } from '../../bench/framework/statistics';

const KNOWN = ['one', 'two'];

describe('the command line of the benchmarks', () => {
  it('runs all of them unless some are named, each once', () => {
    expect(parseArguments([], KNOWN)).toEqual({
      names: KNOWN,
      list: false,
      json: false,
      help: false,
      quick: false,
      build: true,
      minutes: 2,
    });
    expect(parseArguments(['two', 'two'], KNOWN).names).toEqual(['two']);
  });

  it('reads its options', () => {
    const args = ['one', '--json', '--quick', '--no-build', '--minutes', '0.5', '--results', 'here'];
    expect(parseArguments(args, KNOWN)).toMatchObject({
      names: ['one'],
      json: true,
      quick: true,
      build: false,
      minutes: 0.5,
      results: 'here',
    });
  });

  it.each([
    [['three'], 'There is no benchmark three. There are: one, two.'],
    [['--fast'], '--fast'],
    [['--minutes', 'x'], '--minutes must be a number above 0'],
    [['--minutes', '0'], '--minutes must be a number above 0'],
  ])('says what is wrong with %j, and what there is', (args, message) => {
    expect(() => parseArguments(args, KNOWN)).toThrow(message);
    expect(() => parseArguments(args, KNOWN)).toThrow('npm run bench');
  });
});

describe('figures', () => {
  it('are order statistics', () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([10, 20], 0.25)).toBe(12.5);
    expect(quantile([], 0.5)).toBeNaN();
    expect(summary([1, 2, 3, 4, 100], 0)).toEqual({ count: 5, p50: 3, p95: 81, min: 1, max: 100 });
    expect(medianAndSpread([2, 1, 4])).toBe('2.0 (1.0 to 4.0)');
    expect(medianAndSpread([2])).toBe('2.0');
  });

  it('are told beside their goals and never validated', () => {
    expect(goal('ratio', 0.9, '>=', 0.9, 'x').met).toBe(true);
    expect(goal('ratio', 0.8, '>=', 0.9, 'x').met).toBe(false);
    expect(goal('p50', 25, '<=', 25, 'ms').met).toBe(true);
    expect(goal('p50', 26, '<=', 25, 'ms')).toEqual({
      figure: 'p50',
      value: 26,
      unit: 'ms',
      goal: '<= 25',
      met: false,
    });
  });

  it('are printed as a Markdown table, with goals, notes and the machine', () => {
    const text = resultText(RESULT);
    expect(text).toContain('| what     | ms  |');
    expect(text).toContain('| -------- | --- |');
    expect(text).toContain('| a figure | 7   |');
    expect(text).toContain('goal NOT met: a figure 7 ms (goal <= 5)');
    expect(text).toContain('- said honestly');
    expect(text).toContain('2 cores, 4 GiB, Node v20.18.1, commit abc, load 1 2 3');
  });
});

const RESULT: BenchResult = {
  v: 1,
  name: 'one',
  title: 'a title',
  quick: false,
  seconds: 1,
  machine: {
    date: '2026-01-01T00:00:00.000Z',
    cores: 2,
    cpu: 'a processor',
    memoryGiB: 4,
    platform: 'linux 6.1 x64',
    node: 'v20.18.1',
    sdk: '1.24.0',
    temporalServer: null,
    commit: 'abc',
    loadAverage: [1, 2, 3],
  },
  table: { columns: ['what', 'ms'], rows: [['a figure', 7]] },
  goals: [goal('a figure', 7, '<=', 5, 'ms')],
  notes: ['said honestly'],
  values: {},
};
