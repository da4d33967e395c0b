import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { FileArtifactStore } from '../../src/activities';
import { type ArtifactRef } from '../../src/domain/request';
import { CampaignRuns, film } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliRun, replyOf, startCli } from './support/run-cli';

/** One id in two terminals, and in a terminal and a workflow. */
describe('campaigns that are started at once', () => {
  let bench: CliBench;
  let runs: CampaignRuns;
  const films = (count: number, prompt: string) =>
    Array.from({ length: count }, (_unused, index) => film(`r${index}`, `${prompt} ${index}`));
  /** Two terminals; the one that has started it is the first of the answer. */
  const both = async (id: string, ...commands: readonly (readonly string[])[]): Promise<CliRun[]> => {
    const started = commands.map((more) =>
      startCli(['campaign', 'run', ...more, '--id', id, '--json'], bench.workerEnv),
    );
    const ended = await Promise.all(started.map((one) => one.ended));
    for (const { stderr, stdout } of ended) expect(`${stdout}${stderr}`).not.toMatch(/^\s+at /m);
    return ended.sort(
      (a, b) => Number(b.stderr.includes('Started ')) - Number(a.stderr.includes('Started ')),
    );
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('by two terminals with one manifest: one execution, both see it to its end', async () => {
    const [id, before] = [runs.id('same'), await runs.created()];
    const manifest = await runs.manifest('same', films(3, 'x [run:5s]'));
    const [first, second] = await both(id, [manifest], [manifest]);
    expect([first?.code, second?.code]).toEqual([0, 0]);
    expect(second?.stderr).toMatch(/^Attached to /m);
    expect(second?.stderr).toContain('It is already running and keeps its settings.');
    expect(replyOf(second as CliRun).data).toMatchObject({ counts: { completed: 3 } });
    expect(await runs.created()).toBe(before + 3);
  });

  test('by two terminals with two manifests: one is told that the id is taken', async () => {
    const [id, before] = [runs.id('other'), await runs.created()];
    const [two, three] = [
      await runs.manifest('two', films(2, 'y [run:5s]')),
      await runs.manifest('three', films(3, 'z [run:5s]')),
    ];
    const [first, second] = await both(id, [two], [three]);
    expect([first?.code, second?.code]).toEqual([0, 65]);
    expect(replyOf(second as CliRun).error).toMatchObject({
      type: 'campaign_conflict',
      message: `The ID "${id}" is already in use. It belongs to a campaign with another manifest or account. Nothing was started. Use another ID, or wait until it has ended.`,
    });
    const { counts } = replyOf(first as CliRun).data as { counts: { completed: number } };
    expect(await runs.created()).toBe(before + counts.completed);
  });

  test('by two terminals with two budgets and limits: one of them holds, and the other terminal is told which', async () => {
    const [id, before] = [runs.id('budgets'), await runs.created()];
    const manifest = await runs.manifest('budgets', films(3, 'w [run:8s]'));
    const [first, second] = await both(
      id,
      [manifest, '--budget', '0.20USD', '--concurrency', '7'],
      [manifest, '--budget', '0.30USD', '--concurrency', '9'],
    );
    const counts = replyOf(first as CliRun).data?.['counts'] as { completed: number };
    const [holds, asked] = counts.completed === 2 ? [0, 1] : [1, 0];
    const [budgets, widths] = [
      ['0.20 USD', '0.30 USD'],
      [7, 9],
    ];
    expect(second?.stderr).toContain(
      `Its budget is ${budgets[holds]}, not ${budgets[asked]}. Its concurrency is ${widths[holds]}, not ${widths[asked]}.`,
    );
    expect(second?.stderr).toContain(`temporal-media campaign set ${id}`);
    expect([first?.code, second?.code]).toEqual(counts.completed === 3 ? [0, 0] : [5, 5]);
    expect(await runs.created()).toBe(before + counts.completed);
  });

  test('by a workflow or a Schedule: a terminal attaches, and goes on by the id alone', async () => {
    const [id, before] = [runs.id('bare'), await runs.created()];
    const manifest = await runs.manifest('bare', films(2, 'v [run:12s]'));
    const store = new FileArtifactStore(path.join(String(bench.clientEnv['MEDIA_DATA_DIR']), 'artifacts'));
    const artifact: ArtifactRef = await store.putBuffer(await readFile(manifest), { mediaType: 'text/csv' });
    await bench.server.client.workflow.start('runCampaign', {
      taskQueue: String(bench.clientEnv['MEDIA_TASK_QUEUE']),
      workflowId: id,
      args: [{ manifest: { source: { artifact }, format: 'csv' }, concurrency: 1 }],
    });
    const other = await runs.run('run', await runs.manifest('bare2', films(1, 'u')), '--id', id);
    expect([other.code, other.type]).toEqual([65, 'campaign_conflict']);
    const attached = startCli(['campaign', 'run', manifest, '--id', id, '--json'], bench.workerEnv);
    await attached.untilLine('stderr', /^Attached to /);
    expect((await runs.run('cancel', id)).code).toBe(0);
    const ended = await attached.ended;
    expect([ended.code, replyOf(ended).error?.type]).toEqual([5, 'campaign_cancelled']);
    const resumed = await runs.run('resume', id, '--concurrency', '2');
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 2 }]);
    expect(await runs.created()).toBe(before + 2);
  });
});
