import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../support/eventually';
import { expectDocumented } from './schemas/documented';
import { CampaignRuns, film } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runCli, runJson } from './support/run-cli';

/** What people read of the money of a campaign is what is spent, reserved and free. */
describe('the money of a campaign, as it is shown', () => {
  let bench: CliBench;
  let runs: CampaignRuns;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('the budget is free but for rows that are bought or under way; the report names it', async () => {
    const id = runs.id('budget');
    const rows = Array.from({ length: 6 }, (_unused, index) =>
      film(`r${index}`, `x [run:20s] ${index}${index === 0 ? ' [fail:moderation]' : ''}`),
    );
    const manifest = await runs.manifest('budget', rows);
    await runs.run('run', manifest, '--id', id, '--budget', '5USD', '--detach');
    await eventually('all rows are reserved', async () => {
      const { result } = await runs.run('status', id);
      const state = result['state'] as { inFlight: number; budget: { reserved: number } | null } | null;
      return state?.inFlight === 6 && state.budget?.reserved === 600_000;
    });
    const { stdout } = await runCli(['campaign', 'status', id], bench.workerEnv);
    expect(stdout).toMatch(
      /^Budget: +0\.00 USD of 5\.00 USD spent, 0\.60 USD reserved for rows in flight, 4\.40 USD free$/m,
    );
    expect(stdout).toMatch(/^Results: +No rows have ended yet; 6 of 6 rows are in flight\.$/m);
    const result = await runs.ended(id);
    const total = { microUnits: 5_000_000, currency: 'USD' };
    const budget = { total, spent: 500_000, reserved: 0, review: 100_000, free: 4_400_000, over: 0 };
    expect(result.budget).toEqual(budget);
    const out = path.join(bench.dir, 'report');
    await runs.run('report', id, '--out', out);
    const summary = JSON.parse(await readFile(path.join(out, 'summary.json'), 'utf8')) as object;
    expect(summary).toMatchObject({ budget });
    const index = await readFile(path.join(out, 'index.html'), 'utf8');
    expect(index).toContain('<strong>4.40 USD</strong><span>free</span><small>of a 5.00 USD budget</small>');
    const ended = await runCli(['campaign', 'status', id], bench.workerEnv);
    expect(ended.stdout).toMatch(
      /^Budget: +0\.50 USD of 5\.00 USD spent, 0\.10 USD under review \(may have been charged\), 4\.40 USD free$/m,
    );
  });

  test('the dry run and the question of --max-spend name the most that tries after capacity failures may cost', async () => {
    const manifest = await runs.manifest('most', [film('a'), film('b')]);
    const env = bench.workerEnv;
    const dry = await runJson(['campaign', 'run', manifest, '--dry-run'], env);
    expect(dry.reply.data).toMatchObject({ most: { microUnits: 600_000, currency: 'USD' } });
    expectDocumented('campaign-estimate', dry.reply.data);
    const bounded = await runJson(['campaign', 'run', manifest, '--dry-run', '--budget', '0.30'], env);
    expect(bounded.reply.data).toMatchObject({ most: { microUnits: 300_000, currency: 'USD' } });
    const text = async (...more: string[]): Promise<string> =>
      (await runCli(['campaign', 'run', manifest, '--dry-run', ...more], env)).stdout;
    expect(await text('--max-attempts', '2')).toMatch(
      /^estimate: 0\.20 USD\nWith retries it may cost at most 0\.40 USD: after capacity failures, a row is attempted up to 2 times/m,
    );
    expect(await text('--budget', '0.30')).toContain(
      'With retries it may cost at most 0.30 USD, its budget.',
    );
    expect(await text('--max-attempts', '1')).not.toContain('at most');
    const asked = await runs.run('run', manifest, '--max-spend', '0.50');
    expect([asked.code, asked.reply.error?.message]).toEqual([
      6,
      expect.stringContaining('The maximum cost with retries is 0.60 USD'),
    ]);
  });

  test('a retry of rows that may have cost says so beside its own estimate, and so does its question', async () => {
    const id = runs.id('again');
    const manifest = await runs.manifest('again', [film('a'), film('b', `${id} [fail:moderation]`)]);
    expect((await runs.run('run', manifest, '--id', id)).result.counts).toEqual({ completed: 1, failed: 1 });
    const asked = await runs.run('retry', id, '--max-spend', '0.05', '--max-attempts', '1');
    const before =
      'Earlier attempts of these rows may already have been charged and are not in the estimate: needs review 0.10 USD.';
    expect([asked.code, asked.reply.error?.message]).toEqual([
      6,
      expect.stringContaining(`is 0.10 USD, above the limit of 0.05. ${before}`),
    ]);
    expect(asked.run.stderr).toContain(`estimate: 0.10 USD\n${before}`);
  });

  test('the template of a service without a model configuration is refused until a model is named', async () => {
    const file = path.join(bench.dir, 'template.csv');
    const env = { MEDIA_DATA_DIR: path.join(bench.dir, 'nothing-known') };
    expect((await runCli(['campaign', 'init', file], env)).code).toBe(0);
    const { code, reply } = await runJson(['campaign', 'run', file, '--dry-run'], env);
    expect([code, reply.ok]).toEqual([65, false]);
    expect(JSON.stringify(reply)).toContain('model');
  });
});
