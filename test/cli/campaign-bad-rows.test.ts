import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ManifestIssue } from '../../src/domain/campaign/plan';
import { CampaignRuns } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runCli } from './support/run-cli';

const good = { model: 'cine-1', prompt: 'a boat', duration: 2, resolution: '480p' };
const image = { model: 'image-2', prompt: 'a map', size: '512x512' };

/** Kinds of rows that cannot be bought; each is named by what is wrong and the column that the message names. */
const BAD: readonly (readonly [what: string, row: unknown, column: string | null])[] = [
  ['no object', 7, null],
  ['a list', [good], null],
  ['no model', { prompt: 'x' }, 'model'],
  ['an empty model', { ...good, model: '' }, 'model'],
  ['an unknown model', { ...good, model: 'cine-9' }, 'model'],
  ['a model that is no text', { ...good, model: 4 }, 'model'],
  ['no prompt', { ...good, prompt: undefined }, 'prompt'],
  ['a blank prompt', { ...good, prompt: '  ' }, 'prompt'],
  ['a prompt with NUL', { ...good, prompt: 'a\0b' }, 'prompt'],
  ['a prompt that is no text', { ...good, prompt: { text: 'x' } }, 'prompt'],
  ['a duration that the model does not have', { ...good, duration: 3 }, 'duration'],
  ['half a second', { ...good, duration: 2.5 }, 'duration'],
  ['a duration in words', { ...good, duration: 'long' }, 'duration'],
  ['no time at all', { ...good, duration: 0 }, 'duration'],
  ['a resolution that the model does not have', { ...good, resolution: '9000p' }, 'resolution'],
  ['a ratio that the model does not have', { ...good, aspect_ratio: '7:5' }, 'aspect_ratio'],
  ['a size for a video', { ...good, size: '512x512' }, 'size'],
  ['a duration for an image', { ...image, duration: 2 }, 'duration'],
  ['a size with the multiplication sign', { ...image, size: '512×512' }, 'size'],
  ['a size that the model does not have', { ...image, size: '7x7' }, 'size'],
  ['a quality that the model does not have', { ...image, quality: 'best' }, 'quality'],
  ['no results', { ...image, n: 0 }, 'n'],
  ['too many results', { ...image, n: 99 }, 'n'],
  ['an unknown response format', { ...image, response_format: 'webp' }, 'response_format'],
  ['an unknown operation', { ...good, operation: 'film' }, 'operation'],
  ['an edit without an image', { ...image, operation: 'edit' }, 'images'],
  ['an address as an image to edit', { ...image, images: ['https://example.com/a.png'] }, 'images'],
  ['a file that is not there', { ...image, images: ['file:none.png'] }, 'images'],
  ['a file above the manifest', { ...image, images: ['file:../a.png'] }, 'images'],
  ['an artifact that is not there', { ...image, images: [`artifact:sha256/${'0'.repeat(64)}`] }, 'images'],
  [
    'a reference without a kind',
    { ...good, references: [{ url: 'https://example.com/a.png' }] },
    'references',
  ],
  ['a reference that the model does not take', { ...good, audio_reference: 'https://a.example/a.mp3' }, null],
  ['an unknown column', { ...good, durration: 2 }, 'durration'],
  ['two names of one column', { ...good, seconds: 2 }, 'duration'],
  ['a field that the model does not have', { ...good, fields: { wings: 2 } }, null],
  ['a field that a column covers', { ...good, fields: { seconds: 2 } }, null],
  ['a local path in a field', { ...good, fields: { camera: '/home/me/x' } }, null],
  ['an id that is too long', { ...good, id: 'x'.repeat(200) }, 'id'],
  ['an id with control characters', { ...good, id: 'a\u0007' }, 'id'],
  ['an id that is there twice', { ...good, id: 'good' }, 'id'],
];

describe('a manifest with bad rows', () => {
  let bench: CliBench;
  let runs: CampaignRuns;
  let manifest: string;
  const SECRET = 'a prompt that nobody should read';

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
    manifest = path.join(bench.dir, 'bad.jsonl');
    const rows = [{ ...good, id: 'good' }, ...BAD.map(([, row]) => row)].map((row) =>
      JSON.stringify(row).replace('a boat', SECRET),
    );
    await writeFile(manifest, `${rows.join('\n')}\nno JSON at all\n`);
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('every row is told by its line and column; nothing is sent, started or shown of its text', async () => {
    const id = runs.id('bad');
    const before = await bench.sandbox.admin.counters();
    const lines = await runCli(['campaign', 'run', manifest, '--id', id, '-o', 'jsonl'], bench.workerEnv);
    expect(lines.code).toBe(65);
    const objects = lines.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ManifestIssue & { type: string });
    const issues = objects.filter(({ type }) => type === 'issue');
    const told = BAD.map(([what, , column], index) => {
      const found = issues.filter(({ line }) => line === index + 2);
      const columns = found.map((issue) => issue.column);
      return [what, column === null ? found.length > 0 : columns.includes(column) || columns.join()];
    });
    expect(told).toEqual(BAD.map(([what]) => [what, true]));
    expect(issues.some(({ line }) => line === BAD.length + 2)).toBe(true);
    expect(issues.some(({ line }) => line === 1)).toBe(false);
    expect(lines.stdout + lines.stderr).not.toContain(SECRET);
    expect(objects.at(-1)).toMatchObject({
      ok: false,
      error: { type: 'manifest_invalid' },
      data: { plan: { rows: BAD.length + 2, invalid: BAD.length + 1, planned: 0 } },
    });
    expect((await runs.run('status', id)).type).toBe('not_found');
    const after = await bench.sandbox.admin.counters();
    expect({ ...after.operations, models: null }).toEqual({ ...before.operations, models: null });
  });

  test('people see the first twenty, and how many more there are', async () => {
    const { code, stderr } = await runCli(['campaign', 'run', manifest, '--dry-run'], bench.workerEnv);
    expect(code).toBe(65);
    expect(stderr.match(/^line \d+/gm)).toHaveLength(20);
    expect(stderr).toMatch(/^… and \d+ more rows/m);
  });

  test('--on-invalid skip: the good row is bought, and the others are counted', async () => {
    const before = await runs.created();
    const { code, result } = await runs.run('run', manifest, '--on-invalid', 'skip');
    expect([code, result.counts, result.plan?.invalid]).toEqual([0, { completed: 1 }, BAD.length + 1]);
    expect(await runs.created()).toBe(before + 1);
  });
});
