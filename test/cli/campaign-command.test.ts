import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { renderImage } from '../../packages/sandbox/src/render-image';
import { expectDocumented } from './schemas/documented';
import { CampaignRuns, film } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { replyOf, runCli, runJson, startCli } from './support/run-cli';

/** A manifest becomes files, by the real binary, server and sandbox. */
describe('campaign run', () => {
  let bench: CliBench;
  let runs: CampaignRuns;
  let out: string;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
    out = path.join(bench.dir, 'out');
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('a manifest to files and a report; the same manifest under the same id buys nothing again', async () => {
    const cup = { kind: 'image', model: 'm', prompt: 'cup', width: 64, height: 64, index: 0 } as const;
    await writeFile(path.join(bench.dir, 'cup.png'), renderImage({ ...cup, inputs: [] }));
    const manifest = path.join(bench.dir, 'mixed.csv');
    await writeFile(
      manifest,
      [
        'id;model;prompt;duration;resolution;size;image_reference;images',
        'a;cine-1;a secret boat;2;480p;;;',
        'b;motion-omni;"it',
        'turns";3;480p;;file:cup.png;',
        'c;image-2;a secret map;;;512x512;;',
        'd;image-2;make it blue;;;512x512;;file:cup.png',
      ].join('\r\n'),
    );
    const id = runs.id('files');
    const first = await runs.run('run', manifest, '--id', id, '--out', out, '--max-spend', '5USD');
    expect([first.code, first.result.counts]).toEqual([0, { completed: 4 }]);
    const { workflowId, report, ...result } = first.result;
    expect(workflowId).toBe(id);
    expectDocumented('campaign-result', result);
    expect(report).toMatchObject({ rows: 4, filesMissing: 0 });
    const media = await readdir(path.join(out, 'media'), { recursive: true });
    expect(media.filter((name) => /\.(mp4|png)$/.test(name))).toHaveLength(4);
    const lines = (await readFile(path.join(out, 'results.jsonl'), 'utf8')).trimEnd().split('\n');
    const rows = lines.map((line) => JSON.parse(line) as { key: string; line: number });
    for (const row of rows) expectDocumented('campaign-row', row);
    // The second row has two lines: those after it are where the user sees them.
    expect(rows.map(({ key, line }) => [key, line])).toEqual([
      ['a', 2],
      ['b', 3],
      ['c', 5],
      ['d', 6],
    ]);
    expect(`${first.run.stdout}${first.run.stderr}${lines.join()}`).not.toMatch(/secret|sandbox-key/);

    const before = await bench.sandbox.admin.counters();
    const again = await runCli(['campaign', 'run', manifest, '--id', id, '--out', out], bench.workerEnv);
    expect(again.code).toBe(0);
    expect(again.stdout.trimEnd().split('\n')).toEqual(
      ['index.html', 'results.csv', 'results.jsonl'].map((name) => path.join(out, name)),
    );
    expect(again.stderr).toContain('0 to do, 4 with a result');
    const after = await bench.sandbox.admin.counters();
    expect([after.creates, after.images]).toEqual([before.creates, before.images]);
  });

  test('[C1.5] --dry-run: rows, models and the price; it sends, stores and starts nothing', async () => {
    const manifest = await runs.manifest('dry', [film('a'), film('b'), 'c,sketch-lite,x,2,']);
    const before = await bench.sandbox.admin.counters();
    const env = {
      ...bench.workerEnv,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      MEDIA_DATA_DIR: path.join(bench.dir, 'untouched'),
    };
    const { code, reply } = await runJson(['campaign', 'run', manifest, '--dry-run'], env);
    expect([code, reply.data?.['dryRun']]).toEqual([0, true]);
    expectDocumented('campaign-estimate', reply.data);
    expect(reply.data?.['plan']).toMatchObject({
      rows: 3,
      planned: 3,
      estimate: 200_000,
      unpriced: 1,
      currency: 'USD',
    });
    const text = await runCli(['campaign', 'run', manifest, '--dry-run'], env);
    expect(text.stdout).toContain('cine-1 (video): 2 rows, 0.20 USD');
    expect(text.stdout).toContain('estimate: 0.20 USD and 1 row without a known price');
    const { operations } = await bench.sandbox.admin.counters();
    expect({ ...operations, models: null }).toEqual({ ...before.operations, models: null });
    await expect(readdir(path.join(bench.dir, 'untouched'))).rejects.toThrow('ENOENT');
  });

  test('limited: one first, the rest later under the same id', async () => {
    const id = runs.id('limited');
    const manifest = await runs.manifest('limited', [film('a'), film('b'), film('c')]);
    const before = await runs.created();
    const first = await runs.run('run', manifest, '--id', id, '--limit', '1');
    expect([first.code, first.result.counts, first.result.plan?.left]).toEqual([0, { completed: 1 }, 2]);
    // A resume resumes what was started, and nothing was left over.
    const resumed = await runs.run('resume', id);
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 1 }]);
    expect(await runs.created()).toBe(before + 1);
    const rest = await runs.run('run', manifest, '--id', id);
    expect([rest.code, rest.result.counts]).toEqual([0, { completed: 3 }]);
    expect(await runs.created()).toBe(before + 3);
  });

  test('--max-spend: above it, or unknown, nothing is started without an agreement', async () => {
    const manifest = await runs.manifest('spend', [film('a'), film('b')]);
    const unknown = await runs.manifest('unknown', ['a,sketch-lite,x,2,']);
    const [before, id] = [await runs.created(), runs.id('spend')];
    const asked = await runs.run('run', manifest, '--id', id, '--max-spend', '0.19');
    expect([asked.code, asked.type]).toEqual([6, 'spend_not_confirmed']);
    expect((await runs.run('run', unknown, '--max-spend', '9')).code).toBe(6);
    expect((await runs.run('status', id)).type).toBe('not_found');
    expect(await runs.created()).toBe(before);
    // Never more than the budget: then the budget is what may be spent.
    const bounded = await runs.run('run', manifest, '--id', id, '--max-spend', '0.19', '--budget', '0.10');
    expect([bounded.code, bounded.result.counts]).toEqual([5, { completed: 1, skipped_budget: 1 }]);
    expect(bounded.type).toBe('campaign_budget_spent');
    const more = await runs.run('resume', id, '--budget', '0.20', '--max-spend', '1');
    expect([more.code, more.result.counts]).toEqual([0, { completed: 2 }]);
    expect(await runs.created()).toBe(before + 2);
  });

  test('a budget needs a price for every row', async () => {
    const manifest = await runs.manifest('unpriced', [film('a'), 'b,sketch-lite,x,2,']);
    const { code, type } = await runs.run('run', manifest, '--budget', '5');
    expect([code, type]).toEqual([65, 'budget_refused']);
  });

  test('where no model configuration is known the worker validates, and says it by the lines', async () => {
    const manifest = await runs.manifest('validated', [film('a'), 'b,cine-1,x,3,480p']);
    const { MEDIA_MODELS: _models, ...env } = bench.workerEnv;
    const { code, reply } = await runJson(['campaign', 'run', manifest], env);
    expect([code, reply.error?.type]).toEqual([65, 'manifest_invalid']);
    expect(reply.data?.['plan']).toMatchObject({ issues: [{ line: 3, column: 'duration' }] });
    const limited = await runJson(['campaign', 'run', manifest, '--max-spend', '100'], env);
    expect([limited.code, limited.reply.error?.type]).toEqual([6, 'spend_not_confirmed']);
  });

  test('[C5.4b] a manifest from standard input, and one from an address, run as one from a file does', async () => {
    const rows = (id: string) => `id,model,prompt,duration\n${id},cine-1,a boat named ${id},2\n`;
    const piped = startCli(['campaign', 'run', '-', '--json'], bench.workerEnv, undefined, rows('piped'));
    const first = await piped.ended;
    expect([first.code, replyOf(first).data?.['counts']]).toEqual([0, { completed: 1 }]);
    const server = createServer((_request, response) => void response.end(rows('fetched')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const address = `http://127.0.0.1:${port}/rows.csv?token=canary`;
      const second = await runs.run('run', address);
      expect([second.code, second.result.counts]).toEqual([0, { completed: 1 }]);
      // What is signed in the address is nowhere: the rows were stored, and the store is named.
      const id = String(second.result['workflowId']);
      const handle = bench.server.client.workflow.getHandle(id);
      const [history, { memo }] = [await handle.fetchHistory(), await handle.describe()];
      const kept = JSON.stringify([history, memo], (_name, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
      );
      expect(kept).toContain('artifact:sha256/');
      expect(kept).not.toContain('canary');
    } finally {
      server.close();
    }
  });

  test('lines of -o jsonl: the start, states, the answer', async () => {
    const manifest = await runs.manifest('lines', [film('a', 'x [run:3s]')]);
    const { stdout } = await runCli(['campaign', 'run', manifest, '-o', 'jsonl'], bench.workerEnv);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; state?: unknown });
    for (const line of lines) expectDocumented('event', line);
    expect(new Set(lines.map(({ type }) => type))).toEqual(new Set(['started', 'campaign', 'result']));
    const state = lines.filter(({ type }) => type === 'campaign').at(-1)?.state;
    expectDocumented('campaign-state', state);
  });
});
