import { readFileSync } from 'node:fs';
import path from 'node:path';
import { files, INLINE, names } from './inline-payloads';
import { allTestFiles } from './needs';

const ROOT = path.resolve(__dirname, '..', '..');

it('what does not run with stored payloads exists', () => {
  for (const [file, reason] of Object.entries(INLINE)) {
    expect(allTestFiles()).toContain(file);
    const source = readFileSync(path.join(ROOT, file), 'utf8');
    for (const title of typeof reason === 'string' ? [] : Object.keys(reason))
      expect(source).toContain(title);
  }
});

it('all other end-to-end tests and commands run', () => {
  expect(files()).toEqual(
    expect.arrayContaining(['test/e2e/video.test.ts', 'test/cli/status-command.test.ts']),
  );
  expect(files()).not.toContain('test/e2e/payload-codec.test.ts');
  const runs = (name: string) => new RegExp(names(), 'i').test(name);
  expect(runs('an image call without a workflow [C4.4a] of the shell buys once, and waits')).toBe(false);
  expect(runs('an image call without a workflow has a word of every command')).toBe(true);
});
