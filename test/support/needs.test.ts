import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { allTestFiles, leftOut, NEED_OF, needOf, needOfPatterns } from './needs';

const ROOT = path.resolve(__dirname, '..', '..');
const files = allTestFiles();

/** Everything that a file imports, directly or not, as paths relative to the repository. */
function importsOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  seen.add(file);
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  // What is only a type is gone when the test runs.
  for (const [, names, from] of source.matchAll(/^import (?:([^;]*?) from )?'(\.[^']*)';/gm)) {
    const isType = names !== undefined && /^\{(?:\s*type [^,}]*,?)*\s*\}$/.test(names);
    const base = path.posix.join(path.posix.dirname(file), from ?? '');
    const target = [`${base}.ts`, `${base}/index.ts`, `${base}.js`].find((one) =>
      existsSync(path.join(ROOT, one)),
    );
    if (!isType && target !== undefined && !seen.has(target)) importsOf(target, seen);
  }
  return seen;
}

it('every line of the list names something that exists', () => {
  for (const place of Object.keys(NEED_OF))
    expect([place, files.some((file) => file.startsWith(place))]).toEqual([place, true]);
});

it.each(files.filter((file) => needOf(file) !== 'server'))('%s asks for no Temporal server', (file) => {
  const imports = importsOf(file);
  for (const server of ['test/support/temporal.ts', 'test/support/media-stack.ts'])
    expect([server, imports.has(server)]).toEqual([server, false]);
});

it.each(files.filter((file) => needOf(file) === 'nothing' || needOf(file) === 'time'))(
  '%s runs nothing compiled',
  (file) => {
    const source = [...importsOf(file)]
      .filter((one) => one.startsWith('test/') && one !== 'test/support/needs.test.ts')
      .map((one) => readFileSync(path.join(ROOT, one), 'utf8'))
      .join('\n');
    expect(source).not.toMatch(/start(?:Test)?Sandbox(?:Process)?\(|['"/]lib\/(?:cli|testing|worker)/);
  },
);

it('a file that nobody listed needs a server', () => {
  expect(needOf('test/e2e/new.test.ts')).toBe('server');
  expect(needOf('test/new/new.test.ts')).toBe('server');
});

it('the set-up brings the most that any selected file needs, and all without a selection', () => {
  const of = (...patterns: string[]) => needOfPatterns(patterns);
  expect(of()).toBe('server');
  expect(of('test/domain')).toBe('nothing');
  expect(of('./test/domain/price.test.ts', 'test/service')).toBe('nothing');
  expect(of(path.join(ROOT, 'test/domain/price.test.ts'))).toBe('nothing');
  expect(of('price')).toBe('nothing');
  expect(of('test/domain', 'test/replay/')).toBe('lib');
  expect(of('test/domain', 'test/e2e/video')).toBe('server');
  expect(of('test/')).toBe('server');
  expect(of('(')).toBe('server');
});

it('what is left out is named by folder with its number of files, and what was asked for with its command', () => {
  const lines = leftOut(
    ['test/e2e/b.test.ts', '-t', 'x'],
    ['test/domain/a.test.ts', 'test/e2e/a.test.ts', 'test/e2e/b.test.ts', 'test/contract/a.test.ts'],
  );
  expect(lines).toEqual([
    '2 files need a Temporal server: test/e2e (2)',
    '1 files need the build: test/contract (1)',
    '0 files need nothing but time: none',
    'npm test runs them but the long suites, npm run verify:long those; npx jest FILE … brings what these files need',
    'of what you named: npx jest test/e2e/b.test.ts',
  ]);
});

it('npm run test:fast hands arguments to jest, needs no server, and says what it left out', () => {
  const env: NodeJS.ProcessEnv = { ...process.env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/test-fast.js', 'test/domain/price.test.ts', 'test/e2e/video.test.ts', '-t', 'without usage'],
    { cwd: ROOT, encoding: 'utf8', env },
  );
  expect(stderr).not.toContain('Temporal server');
  expect(stdout).toMatch(/^1 passed, 0 failed/m);
  expect(stdout).toMatch(/Left out:\n {2}\d+ files need a Temporal server: .*test\/e2e \(\d+\)/);
  expect(stdout).toContain('of what you named: npx jest test/e2e/video.test.ts');
  expect(status).toBe(0);
});
