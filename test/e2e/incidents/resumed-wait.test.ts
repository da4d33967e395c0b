import { type VideoOutcome } from '../../../src/domain';
import { type CliBench, openCliBench } from '../../cli/support/cli-bench';
import { runJson, startCli } from '../../cli/support/run-cli';

/** Incident B: a wait has ended, somebody has resumed it, and somebody else looks. */
describe('a wait that was resumed', () => {
  let bench: CliBench;
  const json = (...args: string[]) => runJson(args, bench.clientEnv);

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('while it runs, status of the id and of the task shows that wait, and never says to resume; afterwards its end', async () => {
    const id = bench.server.uniqueId('slow');
    await json(
      ...['video', '--model', 'cine-1', '--prompt', 'slow [run:30s]', '--id', id, '--wait-for', '1s'],
      ...['--duration', '2', '--resolution', '480p', '--yes'],
    );
    const first = (await bench.server.client.workflow.getHandle(id).result()) as VideoOutcome;
    if (first.outcome !== 'still_running') throw new Error(first.outcome);
    const { taskId } = first.video;
    expect((await json('status', id)).reply.data?.['safe']).toContain('Resume it by its task id');

    // A history is told without a request to the service, also while nobody polls the task.
    const polls = async () => (await bench.sandbox.admin.requests({ operation: 'poll' })).length;
    const before = await polls();
    expect((await json('replay', id)).code).toBe(0);
    expect(await polls()).toBe(before);

    const resuming = startCli(
      ['resume', id, '--wait-for', '5m', '-o', 'jsonl', '--out', bench.dir],
      bench.clientEnv,
    );
    await resuming.untilLine('stdout', /"phase":"watching"/);
    const seen = await Promise.all([id, taskId].map((asked) => json('status', asked)));
    for (const { reply } of seen) {
      expect(reply.data).toMatchObject({
        workflow: { type: 'awaitVideo', status: 'RUNNING' },
        otherWorkflows: [{ workflowId: id }],
        state: { phase: 'watching', deadlineAt: expect.any(String) as string },
        outcome: null,
        service: null,
        money: { state: 'reserved', estimate: { currency: 'USD' } },
      });
      expect(reply.data?.['safe']).not.toContain('Resume it');
    }
    expect((await resuming.ended).code).toBe(0);
    const { reply } = await json('status', id);
    expect(reply.data).toMatchObject({
      // The reservation of the first wait is over.
      outcome: { outcome: 'completed', billing: { state: 'estimated' } },
      money: { state: 'estimated', estimate: { currency: 'USD' } },
      safe: expect.stringContaining('It is done.') as string,
    });
  });
});
