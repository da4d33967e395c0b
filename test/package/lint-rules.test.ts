import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** The lines of a source that the rule reports. */
function reported(rule: string, lines: readonly string[]): readonly number[] {
  const folder = mkdtempSync(join(tmpdir(), 'temporal-media-lint-'));
  try {
    const plugin = join(ROOT, 'scripts', 'lint-rules.js');
    const config = { jsPlugins: [plugin], categories: { correctness: 'off' }, rules: { [rule]: 'error' } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    writeFileSync(join(folder, 'source.ts'), lines.join('\n'));
    const bin = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
    const given = [bin, '-c', 'config.json', '--format', 'json', 'source.ts'];
    const { stdout } = spawnSync(process.execPath, given, { cwd: folder, encoding: 'utf8' });
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { code: string; labels: { span: { line: number } }[] }[];
    };
    return diagnostics.map(({ labels }) => labels[0]!.span.line).sort((a, b) => a - b);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('a duration of the wall clock is reported: a difference, a comparison, a kept time, a clock that is handed out', () => {
  const wrong = [
    'const startedAt = Date.now();',
    'let until = Date.now() + 5_000;',
    'const left = Date.parse(text) - Date.now();',
    'const late = Date.now() > until;',
    'class Gate { constructor(private readonly now = Date.now) {} }',
    'const clock = () => Date.now();',
  ];
  const right = [
    'const at = new Date(Date.now() + 5_000).toISOString();',
    'const answer = givenAt(value, Date.now());',
    'client.withDeadline(Date.now() + 5_000, () => undefined);',
    'const intent = { wall: Date.now() };',
    'const began = performance.now();',
  ];
  expect(reported('house/no-wall-clock-durations', [...wrong, ...right])).toEqual([1, 2, 3, 4, 5, 6]);
});

it('a fault that nobody looks at is reported: a catch without its error, a handler that takes none', () => {
  const wrong = [
    'try { work(); } catch { rest(); }',
    'const found = await read().catch(() => undefined);',
    'const open = await read().then((one) => one, () => undefined);',
    'const shut = await read().then(keep, async () => undefined);',
  ];
  const right = [
    'const known = await read().catch(otherwise(undefined));',
    'const met = await read().then(keep, (error: unknown) => told(error));',
    'const kept = await read().then(() => undefined);',
    'void beat().catch(() => undefined);',
  ];
  expect(reported('house/no-silent-catch', [...wrong, ...right])).toEqual([1, 2, 3, 4]);
});
