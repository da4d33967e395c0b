import { colorOf, formatOf, painter } from '../../packages/cli/src/shared/report';

test.each([
  [['status', 'x'], 'text'],
  [['status', 'x', '--json'], 'json'],
  [['status', 'x', '-o', 'jsonl'], 'jsonl'],
  [['status', 'x', '-ojson'], 'json'],
  [['status', 'x', '--output=jsonl'], 'jsonl'],
  [['status', 'x', '--output', 'json', '--json'], 'json'],
  [['video', '--out', 'json'], 'text'],
  [['status', '--', '--json'], 'text'],
  [['status', 'x', '-o', 'xml', '--json'], 'json'],
])('%j asks for %s', (argv, format) => {
  expect(formatOf(argv)).toBe(format);
});

describe('colours', () => {
  const terminal = { isTTY: true };
  const red = '\u001b[31mx\u001b[39m';
  test.each([
    ['a terminal has them', 'auto', {}, terminal, red],
    ['a pipe has none', 'auto', {}, {}, 'x'],
    ['NO_COLOR also turns them off', 'auto', { NO_COLOR: '1' }, terminal, 'x'],
    ['an empty NO_COLOR says nothing', 'auto', { NO_COLOR: '' }, terminal, red],
    ['--color wins over NO_COLOR', 'always', { NO_COLOR: '1' }, {}, red],
    ['never', 'never', {}, terminal, 'x'],
    ['a dumb terminal has none', 'auto', { TERM: 'dumb' }, terminal, 'x'],
  ] as const)('%s', (_title, when, env, stream, text) => {
    expect(painter(when, env, stream)('bad', 'x')).toBe(text);
  });

  test('the command line is read for it', () => {
    expect([colorOf(['x', '--color', 'always']), colorOf(['x', '--color=never']), colorOf(['x'])]).toEqual([
      'always',
      'never',
      'auto',
    ]);
  });
});
