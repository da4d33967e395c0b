import { eventually } from '../support/eventually';
import { CampaignRuns, film } from './support/campaign-runs';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliProcess, replyOf, runCli, startCli } from './support/run-cli';

/** What people do with a campaign while it runs and after it has ended. */
describe('the life of a campaign', () => {
  let bench: CliBench;
  let runs: CampaignRuns;
  let worker: CliProcess;
  const films = (count: number, prompt: string) =>
    Array.from({ length: count }, (_unused, index) => film(`r${index}`, `${prompt} ${index}`));
  const detached = async (manifest: string, id: string, ...more: readonly string[]): Promise<void> => {
    const { code, result } = await runs.run('run', manifest, '--id', id, '--detach', ...more);
    expect([code, result['isNew']]).toEqual([0, true]);
  };
  /** Waits until the service has accepted so many creates: the state of a campaign may be a moment behind. */
  const bought = (count: number): Promise<boolean> =>
    eventually(`${count} creates`, async () => (await runs.created()) >= count);

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    runs = new CampaignRuns(bench);
    worker = await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('attach while it runs; another manifest under its id is a conflict; Ctrl-C and kill -9 end nothing', async () => {
    const [id, before] = [runs.id('attach'), await runs.created()];
    const manifest = await runs.manifest('attach', films(2, 'x [run:12s]'));
    const other = await runs.manifest('other', films(3, 'y'));
    const first = startCli(['campaign', 'run', manifest, '--id', id], bench.workerEnv);
    await first.untilLine('stderr', /^Started /);
    first.child.kill('SIGKILL');
    const conflict = await runs.run('run', other, '--id', id);
    expect([conflict.code, conflict.type]).toEqual([65, 'campaign_conflict']);
    const second = startCli(['campaign', 'run', manifest, '--id', id, '--json'], bench.workerEnv);
    await second.untilLine('stderr', /^Attached to /);
    second.child.kill('SIGINT');
    const left = await second.ended;
    expect([left.code, replyOf(left).error?.type]).toEqual([130, 'interrupted']);
    const status = await runs.run('status', id, '--batches');
    expect([status.code, status.result['status']]).toEqual([0, 'RUNNING']);
    const watched = await runs.run('watch', id);
    expect([watched.code, watched.result.counts]).toEqual([0, { completed: 2 }]);
    expect(await runs.created()).toBe(before + 2);
    // The server lists what has ended a moment later.
    await eventually('the list', async () => {
      const listed = await runs.run('list', '--limit', '100');
      const campaigns = listed.result['campaigns'] as readonly Record<string, unknown>[];
      return campaigns.some(({ workflowId, status: word }) => workflowId === id && word === 'COMPLETED');
    });
  });

  test('pause, a new worker, resume: nothing is bought while it is paused', async () => {
    const [id, before] = [runs.id('pause'), await runs.created()];
    const manifest = await runs.manifest('pause', films(4, 'x [run:6s]'));
    await detached(manifest, id, '--concurrency', '1');
    await bought(before + 1);
    expect((await runs.run('pause', id)).code).toBe(0);
    const at = await runs.created();
    worker.child.kill('SIGTERM');
    await worker.ended;
    worker = await bench.startWorker();
    const paused = await runs.run('status', id);
    expect([paused.result['state'], await runs.created()]).toMatchObject([{ phase: 'paused' }, at]);
    const resumed = await runs.run('resume', id, '--concurrency', '4');
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 4 }]);
    expect(await runs.created()).toBe(before + 4);
  });

  test('a budget raised in flight; orders to one that has ended are refused', async () => {
    const [id, before] = [runs.id('budget'), await runs.created()];
    const manifest = await runs.manifest('budget', films(3, 'x [run:20s]'));
    await detached(manifest, id, '--budget', '0.10USD');
    await bought(before + 1);
    const limited = await runs.run('set', id, '--budget', '0.30', '--max-spend', '0.05');
    expect([limited.code, limited.type]).toEqual([6, 'spend_not_confirmed']);
    const taken = await runs.run('resume', id, '--budget', '0.30', '--max-spend', '0.05');
    expect([taken.code, taken.type]).toEqual([6, 'spend_not_confirmed']);
    const lower = await runs.run('set', id, '--budget', '0.05');
    expect([lower.code, lower.type]).toEqual([65, 'campaign_order_refused']);
    const raised = await runs.run('set', id, '--budget', '0.30', '--concurrency', '5');
    expect([raised.code, raised.result['orders']]).toMatchObject([
      0,
      [{ accepted: true }, { accepted: true }],
    ]);
    const watched = await runs.run('watch', id);
    // Rows that were given up in the moment of the order are resumed by a resume.
    const ended = watched.type === 'campaign_budget_spent' ? await runs.run('resume', id) : watched;
    expect([ended.code, ended.result.counts]).toEqual([0, { completed: 3 }]);
    expect(await runs.created()).toBe(before + 3);
    for (const order of ['pause', 'cancel']) {
      const late = await runs.run(order, id);
      expect([late.code, late.type]).toEqual([65, 'campaign_ended']);
    }
  });

  test('cancel: nothing more is bought, what runs is collected; resume buys the rest', async () => {
    const [id, before] = [runs.id('cancel'), await runs.created()];
    const manifest = await runs.manifest('cancel', films(3, 'x [run:6s]'));
    await detached(manifest, id, '--concurrency', '1');
    await bought(before + 1);
    const { code, reply, run } = await runs.run('cancel', id);
    expect([code, reply.ok]).toEqual([0, true]);
    expect(run.stderr).toMatch(/are already paid for, and their results will be collected/);
    const ended = await runs.run('watch', id);
    expect([ended.code, ended.type]).toEqual([5, 'campaign_cancelled']);
    expect(ended.result.counts).toEqual({ completed: 1, cancelled: 2 });
    expect(await runs.created()).toBe(before + 1);
    const resumed = await runs.run('resume', id, '--concurrency', '3');
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 3 }]);
    expect(await runs.created()).toBe(before + 3);
  });

  test('retry buys a new attempt of what failed, and asks like a run', async () => {
    const id = runs.id('retry');
    const manifest = await runs.manifest('retry', [film('a'), film('b', 'refused once [http:400]')]);
    const first = await runs.run('run', manifest, '--id', id);
    expect([first.code, first.type]).toEqual([5, 'campaign_failed_rows']);
    expect(first.result.counts).toEqual({ completed: 1, rejected: 1 });
    expect(first.reply.error?.hint).toContain(`temporal-media campaign retry ${id}`);
    const before = await runs.created();
    const asked = await runs.run('retry', id, '--max-spend', '0.01');
    expect([asked.code, asked.type]).toEqual([6, 'spend_not_confirmed']);
    const wrong = await runs.run('retry', id, '--outcome', 'unconfirmed');
    expect([wrong.code, wrong.reply.error?.message]).toEqual([
      65,
      expect.stringContaining('Settle unconfirmed rows first'),
    ]);
    const again = await runs.run('retry', id, '--max-spend', '0.01', '--yes');
    expect([again.code, again.result.counts]).toEqual([0, { completed: 2 }]);
    expect(await runs.created()).toBe(before + 1);
  });

  test('retry of a campaign that runs asks too, whatever its budget', async () => {
    const id = runs.id('retry-running');
    const rows = [film('a', 'x [run:20s]'), film('b', 'refused while it runs [http:400]')];
    await detached(await runs.manifest('retry-running', rows), id, '--budget', '1USD');
    await eventually('a refusal', async () => {
      const { result } = await runs.run('status', id);
      return (result['state'] as { counts: Record<string, number> } | null)?.counts['rejected'] === 1;
    });
    const before = await runs.created();
    const asked = await runs.run('retry', id, '--budget', '1USD', '--max-spend', '0.01');
    expect([asked.code, asked.type]).toEqual([6, 'spend_not_confirmed']);
    expect(await runs.created()).toBe(before);
    await runs.run('cancel', id);
  });

  test('still running at the end of its wait: 75, and a resume collects it', async () => {
    const [id, before] = [runs.id('still'), await runs.created()];
    const manifest = await runs.manifest('still', [film('a', 'x [run:15s]')]);
    const first = await runs.run('run', manifest, '--id', id, '--wait-for', '3s');
    expect([first.code, first.reply.ok, first.result.counts]).toEqual([75, true, { still_running: 1 }]);
    const resumed = await runs.run('resume', id, '--wait-for', '2m');
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 1 }]);
    expect(await runs.created()).toBe(before + 1);
  });

  test('rows of unknown fate: 5; one is adopted, one declared lost, and a resume goes on with both', async () => {
    const id = runs.id('fate');
    const manifest = await runs.manifest('fate', [
      film('a'),
      film('taken', `${id} taken [lost-reply]`),
      film('lost', `${id} lost [lost-reply]`),
    ]);
    const first = await runs.run('run', manifest, '--id', id);
    expect([first.code, first.type]).toEqual([5, 'campaign_unconfirmed']);
    expect(first.result.counts).toEqual({ completed: 1, unconfirmed: 2 });
    const [tasks, before] = [await bench.sandbox.admin.tasks(), await runs.created()];
    const task = tasks.find(({ prompt }) => prompt.includes(`${id} taken`))?.id ?? '';
    const why = ['--reason', 'a test'];
    expect((await runs.run('adopt', id, 'none', task, ...why)).type).toBe('not_found');
    expect((await runs.run('adopt', id, 'a', task, ...why)).type).toBe('decision_refused');
    expect((await runs.run('adopt', id, 'taken', task, ...why)).code).toBe(0);
    expect((await runs.run('declare-lost', id, 'lost', ...why)).code).toBe(0);
    const resumed = await runs.run('resume', id);
    expect(resumed.result.counts).toEqual({ completed: 2, rejected: 1 });
    expect([resumed.code, resumed.type]).toEqual([5, 'campaign_failed_rows']);
    expect(await runs.created()).toBe(before);
  });

  test('terminated from outside: the id alone goes on, and buys nothing twice', async () => {
    const [id, before] = [runs.id('gone'), await runs.created()];
    const manifest = await runs.manifest('gone', films(2, 'x [run:10s]'));
    const run = startCli(['campaign', 'run', manifest, '--id', id, '--json'], bench.workerEnv);
    await run.untilLine('stderr', /^Started /);
    await bought(before + 2);
    await bench.server.client.workflow.getHandle(id).terminate('by somebody');
    const closed = await run.ended;
    expect([closed.code, replyOf(closed).error?.type]).toEqual([5, 'workflow_ended']);
    const text = await runCli(['campaign', 'status', id], bench.workerEnv);
    expect(text.stdout).toContain(`temporal-media campaign resume ${id}`);
    const resumed = await runs.run('resume', id);
    expect([resumed.code, resumed.result.counts]).toEqual([0, { completed: 2 }]);
    expect(await runs.created()).toBe(before + 2);
  }, 300_000);

  test('nobody knows the id: 65, whatever is asked of it', async () => {
    const id = runs.id('nobody');
    for (const command of ['status', 'watch', 'pause', 'cancel', 'resume', 'retry', 'report']) {
      const { code, type } = await runs.run(command, id);
      expect([command, code, type]).toEqual([command, 65, 'not_found']);
    }
  });
});
