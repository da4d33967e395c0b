import { execFile } from 'node:child_process';
import path from 'node:path';
import fc from 'fast-check';

const ROOT = path.resolve(__dirname, '..', '..');
const small = fc.property(fc.integer(), (value) => value < 1_000);

function messageOf(fail: () => unknown): string {
  try {
    fail();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it did not fail');
}

/** Runs the command as a person would who copies it out of a log. */
async function run(command: string, env: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      'sh',
      ['-c', command],
      {
        cwd: ROOT,
        env: { ...process.env, TEST_NO_SERVER: '1', FORCE_COLOR: '0', FC_SEED: '', FC_PATH: '', ...env },
      },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

const commandIn = (text: string) => /Repeat: (FC_SEED=.*)/.exec(text)?.[1] ?? 'no command';

it("a failure names seed, path, file and test, for a shell: it's $5 (or [less])", () => {
  expect(commandIn(messageOf(() => fc.assert(small)))).toMatch(
    /^FC_SEED=-?\d+ FC_PATH=[\d:]+ npx jest test\/support\/fast-check\.test\.ts -t '\^a failure names seed, path, file and test, for a shell: it'\\''s \\\$5 \\\(or \\\[less\\\]\\\)\$'$/,
  );
});

it('a second property of a test is repeated by the seed alone: the path belongs to the first', () => {
  fc.assert(fc.property(fc.integer(), () => true));
  expect(commandIn(messageOf(() => fc.assert(small)))).toMatch(/^FC_SEED=-?\d+ npx jest /);
});

it('asynchronous properties say the same, and the cause is kept', async () => {
  const cause = new Error('why');
  const failed = fc.assert(
    fc.asyncProperty(fc.nat(), async () => {
      throw cause;
    }),
  );
  await expect(failed).rejects.toMatchObject({
    cause,
    message: expect.stringMatching(/Repeat: FC_SEED=/) as string,
  });
});

it('FC_SEED and FC_PATH repeat a failure; what a test sets itself wins', () => {
  const first = messageOf(() => fc.assert(small, { seed: 5 }));
  const place = /FC_PATH=([\d:]+)/.exec(first)?.[1] ?? 'none';
  const tried: number[] = [];
  const watched = fc.property(fc.integer(), (value) => tried.push(value) > 0 && value < 1_000);
  fc.assert(fc.property(fc.integer(), () => true));
  process.env['FC_SEED'] = '5';
  try {
    expect(messageOf(() => fc.assert(watched, { path: place, endOnFailure: true }))).toContain('seed: 5');
    expect(tried).toEqual([1_000]);
    process.env['FC_SEED'] = 'five';
    expect(() => fc.assert(small)).toThrow('FC_SEED is a whole number');
  } finally {
    delete process.env['FC_SEED'];
  }
});

it('the printed command, run in a shell, ends at the same value', async () => {
  const env = { FAIL_ON_PURPOSE: '1' };
  const first = await run(`npx jest test/support/fast-check.test.ts -t 'fails on purpose'`, env);
  const second = await run(commandIn(first), env);
  const example = /Counterexample: .*/;
  expect(first).toContain('1 failed');
  expect(example.exec(second)?.[0]).toBe(example.exec(first)?.[0]);
  expect(second).toContain('Property failed after 1 tests');
});

if (process.env['FAIL_ON_PURPOSE'] === '1') {
  it("fails on purpose: it's $5 (or [less])", () => fc.assert(small));
}
