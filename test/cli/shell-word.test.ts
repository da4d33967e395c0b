import { commandFor, shellWord } from '../../src/cli/text';

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
