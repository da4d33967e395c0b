import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchResult } from '../../bench/framework/result-text';

const RUN = join(__dirname, '..', '..', 'bench', 'run.js');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function bench(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [RUN, '--no-build', ...args],
      (error: ExecFileException | null, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

const UNKNOWN = 'unknown-name';

describe('npm run bench', () => {
  it('lists what there is, each with its own file', async () => {
    const { code, stdout } = await bench('--list');
    expect(code).toBe(0);
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/)[0]);
    const files = await readdir(join(__dirname, '..', '..', 'bench', 'figures'));
    expect([...names].sort()).toEqual(files.map((file) => file.replace('.js', '')).sort());
    const page = await readFile(join(__dirname, '..', '..', 'docs', 'measured.md'), 'utf8');
    expect([...page.matchAll(/^## ([\w-]+)$/gm)].map((match) => match[1])).toEqual([...names].sort());
  });

  it('refuses a name that is none, and says what there is', async () => {
    const { code, stdout, stderr } = await bench(UNKNOWN);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`There is no benchmark ${UNKNOWN}. There are: image-overhead, `);
  });

  describe('with small numbers', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'temporal-media-bench-test-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('measures, prints and keeps the same figures', async () => {
      const { code, stdout, stderr } = await bench('download', '--quick', '--json', '--results', folder);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      const { results } = JSON.parse(stdout) as { readonly results: readonly BenchResult[] };
      const kept = JSON.parse(await readFile(join(folder, 'download.json'), 'utf8')) as BenchResult;
      expect(results).toEqual([kept]);
      expect(kept).toMatchObject({ v: 1, name: 'download', quick: true, values: { mebibytes: 32 } });
      expect(kept.machine.cores).toBeGreaterThan(0);
      expect(kept.table.rows.every((row) => row.length === kept.table.columns.length)).toBe(true);
      expect(JSON.stringify(kept)).not.toContain(tmpdir());
    });
  });
});
