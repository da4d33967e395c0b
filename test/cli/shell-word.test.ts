import { commandFor, shellWord } from '../../packages/cli/src/shared/text';

test.each([
  ['sku-1', 'temporal-media resume sku-1'],
  ['a b', "temporal-media resume 'a b'"],
  ["it's; rm -rf ~", "temporal-media resume 'it'\\''s; rm -rf ~'"],
  ['$(id)', "temporal-media resume '$(id)'"],
  ['--help', 'temporal-media resume -- --help'],
])('%s comes back from a shell as it is', (id, command) => {
  expect(commandFor('resume', id)).toBe(command);
});

test('an option with its value is one word', () => {
  expect([shellWord('--id=sku-1'), shellWord('--id=a b')]).toEqual(['--id=sku-1', "'--id=a b'"]);
});

test.each([
  ['sku-1', 'sku-1'],
  ['a b & del *', '"a b & del *"'],
  ["it's <here>|^", '"it\'s <here>|^"'],
  ['--id=a b', '"--id=a b"'],
  ['C:\\films\\my film', '"C:\\films\\my film"'],
  ['C:\\films\\', '"C:\\films\\\\"'],
  // Either shell would replace or end something here: nothing is found, and nothing else runs.
  ['%PATH%', '"?PATH?"'],
  ['$(calc)`x', '"?(calc)?x"'],
  ['"& calc', '"?& calc"'],
  ['\u201d; calc', '"?; calc"'],
  ['line\nend', '"line?end"'],
])('on Windows %j is one inert word in cmd and in PowerShell', (id, word) => {
  expect(shellWord(id, 'win32')).toBe(word);
});
