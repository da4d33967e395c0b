import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '..', '..');
const folder = mkdtempSync(path.join(tmpdir(), 'rules-command-'));
const results = path.join(folder, 'rules.json');
afterAll(() => rmSync(folder, { recursive: true }));

function rules(...ids: string[]): {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
} {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/rules.js', ...ids], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, RULES_RESULTS: results },
  });
  return { code: status, out: stdout, err: stderr };
}

it('without results it prints the rule, its tests, and the files that name it', () => {
  const { code, out, err } = rules('C4.4a');
  expect(err).toContain('No test results yet');
  expect(out).toContain('One authorized creation puts at most one create on the wire');
  expect(out).toMatch(/ {4}test\/contract\/create-once\.test\.ts\n {6}not run {2}\[C4\.4a\]/);
  for (const file of ['src/workflows/create-once.ts', 'test/e2e/video.test.ts', 'docs/contract-rules.md'])
    expect(out.slice(out.indexOf('Named by'))).toContain(`    ${file}\n`);
  expect(code).toBe(0);
});

it('with results it prints them, and fails on a failed test', () => {
  const test = { title: 'x [C4.4a] y', status: 'failed' };
  writeFileSync(results, JSON.stringify({ files: { 'test/a.test.ts': [test] } }));
  const { code, out } = rules('c4.4a');
  expect(out).toContain('    test/a.test.ts\n      failed   x [C4.4a] y\n');
  expect(code).toBe(1);
});

it('an unknown id brings the near ones and exit code 1', () => {
  const { code, err } = rules('C4.4', 'C99');
  expect(err).toContain('C4.4: no such rule. Similar: C4.4a, C4.4b, C4.4c');
  expect(err).toContain('C99: no such rule. docs/contract-rules.md lists all rules');
  expect(code).toBe(1);
});
