import { unseenDifference } from '../../src/domain/near-names';

const SAID = ' It differs from an allowed value only in invisible characters';

it.each<[string, string, readonly string[], string]>([
  ['another blank at the end', 'vid\u00a0', ['vid'], ': U+00A0 at character 4.'],
  ['a space at the end', 'vid ', ['other', 'vid'], ': U+0020 at character 4.'],
  ['another blank inside', 'image-2\u20074K', ['image-2 4K'], ': U+2007 at character 8.'],
  ['a zero-width space', 'vi\u200bd', ['vid'], ': U+200B at character 3.'],
  [
    'a soft hyphen and a mark of direction',
    'vi\u00add\u200e',
    ['vid'],
    ': U+00AD at character 3, U+200E at character 5.',
  ],
  ['a variation selector', '720p\ufe0f', ['720p'], ': U+FE0F at character 5.'],
  ['an invisible letter', 'vid\u3164', ['vid'], ': U+3164 at character 4.'],
  ['a byte order mark', '\ufeffvid', ['vid'], ': U+FEFF at character 1.'],
  ['a line break', 'vid\n', ['vid'], ': U+000A at character 4.'],
  ['two blanks for one', 'image-2  4K', ['image-2 4K'], '.'],
  ['what the allowed one has', 'vid', ['vid\u200b'], '.'],
  ['another composition of the same letter', 'e\u0301', ['\u00e9'], '.'],
])('%s is named by its place', (_what, value, allowed, which) => {
  expect(unseenDifference(value, allowed)).toBe(`${SAID}${which}`);
});

it.each<[unknown, readonly string[]]>([
  [7, ['7']],
  ['vid', ['vid']],
  ['vid', ['Vid', 'vid-1', '']],
  ['', []],
  ['\u200b', ['vid']],
])('%j differs from each of %j in what is seen, or not at all', (value, allowed) => {
  expect(unseenDifference(value, allowed)).toBe('');
});
