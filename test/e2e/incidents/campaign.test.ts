import { CampaignRuns, film } from '../../cli/support/campaign-runs';
import { type CliBench, openCliBench } from '../../cli/support/cli-bench';
import { runJson } from '../../cli/support/run-cli';
import { eventually } from '../../support/eventually';

/** Rows of unknown fate, a batch that somebody terminates, and a campaign without workers. */
describe('a campaign that needs somebody', () => {
  let bench: CliBench;
  let runs: CampaignRuns;
  const status = async (id: string) => (await runJson(['status', id], bench.clientEnv)).reply.data;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
  });
  afterAll(() => bench.close());

  test('by row: every command names the same decision, and none once it is taken', async () => {
    const worker = await bench.startWorker();
    const id = runs.id('undecided');
    await bench.sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: 'lost row',
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const manifest = await runs.manifest('undecided', [film('a'), film('b', 'lost row')]);
    const ended = await runs.run('run', manifest, '--id', id);
    expect([ended.code, ended.type]).toEqual([5, 'campaign_unconfirmed']);
    const shown = await runs.run('status', id);
    expect(shown.result['safe']).toBe(ended.reply.error?.hint);
    expect(shown.result['safe']).toMatch(/campaign adopt.*campaign resume undecided/);
    expect((await status(id))?.['safe']).toContain(`campaign status ${id}`);

    const [task] = (await bench.sandbox.admin.tasks()).filter(({ prompt }) => prompt === 'lost row');
    const adopted = await runs.run('adopt', id, 'b', task?.id ?? '', '--reason', 'seen in the console');
    expect(adopted.code).toBe(0);
    const resumed = await runs.run('resume', id);
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 2 }]);
    expect((await runs.run('status', id)).result['safe']).toMatch(/^It is done\./);
    expect(await runs.created()).toBe(2);
    worker.child.kill('SIGTERM');
    await worker.ended;
  });

  test('by batch: a terminated one is counted by its campaign, and nobody is told to start it again', async () => {
    const worker = await bench.startWorker();
    const [id, before] = [runs.id('batched'), await runs.created()];
    const manifest = await runs.manifest('batched', [film('a', 'x [run:20s]')]);
    await runs.run('run', manifest, '--id', id, '--detach');
    await eventually('the create', async () => (await runs.created()) > before);
    const batch = `${id}/batch/0`;
    await bench.server.client.workflow.getHandle(batch).terminate('by mistake');
    expect(await status(batch)).toMatchObject({
      workflow: { type: 'campaignBatch', status: 'TERMINATED' },
      safe: expect.stringContaining('its campaign accounts for it') as string,
    });
    expect((await runs.ended(id)).counts).toEqual({ completed: 1 });
    expect(await runs.created()).toBe(before + 1);
    worker.child.kill('SIGTERM');
    await worker.ended;
  });

  test('without a worker of its queue, whatever queue the shell names', async () => {
    const id = runs.id('unserved');
    const manifest = await runs.manifest('unserved', [film('a')]);
    const queue = bench.server.uniqueId('nobody');
    await runJson(['campaign', 'run', manifest, '--id', id, '--detach', '--yes'], {
      ...bench.workerEnv,
      MEDIA_TASK_QUEUE: queue,
    });
    const { reply } = await runJson(['campaign', 'status', id], bench.workerEnv);
    expect(reply.data).toMatchObject({
      status: 'RUNNING',
      state: null,
      safe: expect.stringMatching(new RegExp(`^Start a worker on task queue ${queue}:`)) as string,
    });
    await bench.server.client.workflow.getHandle(id).terminate();
  });
});
