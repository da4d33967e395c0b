import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CampaignRuns } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { replyOf, runCli, runJson, startCli } from './support/run-cli';

/** A file with one prompt a line is a campaign. */
describe('campaign run --prompts', () => {
  let bench: CliBench;
  let runs: CampaignRuns;
  const COMMON = ['--model', 'cine-1', '--duration', '2', '--resolution', '480p'] as const;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  const file = async (name: string, text: string): Promise<string> => {
    const at = path.join(bench.dir, name);
    await writeFile(at, text);
    return at;
  };

  test('a file becomes videos, known by their content; another order and new lines buy what is new', async () => {
    const id = runs.id('prompts');
    const out = path.join(bench.dir, 'prompts-out');
    const prompts = await file('a.txt', `\ufeff${id} a boat\r\n\r\n${id} a "map", old; blue\r\n`);
    const before = await runs.created();
    const first = await runs.run('run', '--prompts', prompts, ...COMMON, '--id', id, '--out', out);
    expect([first.code, first.result.counts]).toEqual([0, { completed: 2 }]);
    const rows = (await readFile(path.join(out, 'results.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; line: number; requested: object });
    expect(rows.map(({ line }) => line)).toEqual([1, 3]);
    for (const { key, requested } of rows) {
      expect(key).toMatch(/^[0-9a-f]{20}\.0$/);
      expect(requested).toMatchObject({ durationSeconds: 2, resolution: '480p' });
    }
    const sent = (await bench.sandbox.admin.tasks()).map(({ prompt }) => prompt);
    expect(sent).toEqual(expect.arrayContaining([`${id} a boat`, `${id} a "map", old; blue`]));

    const more = await file('b.txt', `${id} a "map", old; blue\n${id} a hat\n${id} a boat\n`);
    const second = await runs.run('run', '--prompts', more, ...COMMON, '--id', id);
    expect([second.code, second.result.counts]).toEqual([0, { completed: 3 }]);
    expect(await runs.created()).toBe(before + 3);
  });

  test('prompts from standard input, and a dry run that names what is wrong by its line', async () => {
    const args = ['campaign', 'run', '--prompts', '-', ...COMMON, '--json'];
    const piped = await startCli(args, bench.workerEnv, undefined, 'a piped boat\n').ended;
    expect([piped.code, replyOf(piped).data?.['counts']]).toEqual([0, { completed: 1 }]);
    const prompts = await file('c.txt', 'a\n\nb\n');
    const dry = await runs.run(
      'run',
      '--prompts',
      prompts,
      '--model',
      'cine-1',
      '--duration',
      '3',
      '--dry-run',
    );
    expect([dry.code, dry.type]).toEqual([65, 'manifest_invalid']);
    expect(dry.result.plan).toMatchObject({
      rows: 2,
      issues: [
        { line: 1, column: 'duration' },
        { line: 3, column: 'duration' },
      ],
    });
    expect((await runs.run('run', '--prompts', prompts, ...COMMON, '--dry-run')).code).toBe(0);
    const images = await file('d.txt', 'a cup\n');
    const image = ['--prompts', images, '--model', 'image-2', '--size', '512x512', '--n', '2'];
    const many = await runCli(['campaign', 'run', ...image, '--dry-run'], bench.workerEnv);
    expect([many.code, many.stdout]).toEqual([0, expect.stringContaining('image-2 (image): 1 row')]);
  });

  test.each([
    [
      'both',
      ['films.csv', '--prompts', 'x.txt', '--model', 'm'],
      /--prompts: cannot be combined with a manifest/,
    ],
    ['no model', ['--prompts', 'x.txt'], /--model: is required with --prompts/],
    ['neither', [], /manifest: is required, unless --prompts FILE/],
    ['an option of prompts', ['films.csv', '--duration', '2'], /--duration: .* the duration column/],
    ['a format', ['--prompts', 'x', '--model', 'm', '--format', 'csv'], /--format: /],
    ['no number', ['--prompts', 'x', '--model', 'm', '--duration', 'long'], /--duration: must be a whole/],
    ['an empty model', ['--prompts', 'x', '--model', ' '], /--model: must not be empty/],
  ])('%s: the options that do not go together are named', async (_name, args, message) => {
    const { code, reply } = await runJson(['campaign', 'run', ...args], bench.workerEnv);
    expect([code, reply.error?.type]).toEqual([65, 'rejected/invalid_request']);
    expect(reply.error?.message).toMatch(message);
  });

  test('a manifest that is given as prompts is refused, and prompts that are given as a manifest are shown the way', async () => {
    const manifest = await runs.manifest('films', ['a,cine-1,x,2,480p']);
    const as = await runs.run('run', '--prompts', manifest, ...COMMON, '--max-spend', '100');
    expect([as.code, as.type]).toEqual([65, 'manifest_unreadable']);
    expect(as.reply.error?.message).toContain('Line 1 looks like the start of a manifest');
    const prompts = await file('e.txt', 'a boat at dusk\na map\n');
    const wrong = await runs.run('run', prompts, '--dry-run');
    expect([wrong.code, wrong.reply.error?.hint]).toEqual([65, expect.stringContaining('--prompts')]);
  });
});
