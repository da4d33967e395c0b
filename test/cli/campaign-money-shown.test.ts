import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../support/eventually';
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
    const rows = Array.from({ length: 6 }, (_unused, index) => film(`r${index}`, `x [run:20s] ${index}`));
    const manifest = await runs.manifest('budget', rows);
    await runs.run('run', manifest, '--id', id, '--budget', '5USD', '--detach');
    await eventually('all rows are reserved', async () => {
      const { result } = await runs.run('status', id);
      const state = result['state'] as { inFlight: number; budget: { taken: number } | null } | null;
      return state?.inFlight === 6 && state.budget?.taken === 600_000;
    });
    const { stdout } = await runCli(['campaign', 'status', id], bench.workerEnv);
    expect(stdout).toMatch(/^Budget: +4\.40 USD of 5\.00 USD free, 0\.60 USD spent or reserved$/m);
    expect(stdout).toMatch(/^Results: +no row has ended yet$/m);
    const result = await runs.ended(id);
    expect(result.budget).toEqual({ microUnits: 5_000_000, currency: 'USD' });
    const out = path.join(bench.dir, 'report');
    await runs.run('report', id, '--out', out);
    const summary = JSON.parse(await readFile(path.join(out, 'summary.json'), 'utf8')) as object;
    expect(summary).toMatchObject({ budget: { microUnits: 5_000_000, currency: 'USD' } });
  });

  test('the dry run and the question of --max-spend name the most that tries after capacity failures may cost', async () => {
    const manifest = await runs.manifest('most', [film('a'), film('b')]);
    const dry = await runJson(['campaign', 'run', manifest, '--dry-run'], bench.workerEnv);
    expect(dry.reply.data).toMatchObject({ most: { microUnits: 600_000, currency: 'USD' } });
    const text = async (...more: string[]): Promise<string> =>
      (await runCli(['campaign', 'run', manifest, '--dry-run', ...more], bench.workerEnv)).stdout;
    expect(await text('--max-attempts', '2')).toContain('estimate: 0.20 USD; at most 0.40 USD');
    expect(await text('--max-attempts', '1')).toMatch(/estimate: 0\.20 USD$/m);
    const asked = await runs.run('run', manifest, '--max-spend', '0.50');
    expect([asked.code, asked.reply.error?.message]).toEqual([6, expect.stringContaining('0.60 USD')]);
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
