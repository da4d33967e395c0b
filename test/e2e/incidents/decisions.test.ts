import path from 'node:path';
import { type CliBench, openCliBench } from '../../cli/support/cli-bench';
import { runCli, runJson } from '../../cli/support/run-cli';

/** Incident A: the reply of a create was lost, the wait for a decision is over, and somebody decides then. */
describe('a decision about a call whose workflow has ended', () => {
  let bench: CliBench;
  const json = (...args: string[]) => runJson(args, bench.clientEnv);
  const accepted = async (): Promise<number> => (await bench.sandbox.admin.counters()).creates.accepted;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  async function lost(prompt: string): Promise<{ readonly id: string; readonly taskId: string }> {
    await bench.sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        times: 1,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const id = bench.server.uniqueId('lost');
    const run = await json(
      ...['video', '--model', 'cine-1', '--duration', '2', '--prompt', prompt, '--id', id],
    );
    expect([run.code, run.reply.data?.['outcome']]).toEqual([5, 'unconfirmed']);
    const task = (await bench.sandbox.admin.tasks()).find((one) => one.prompt === prompt);
    return { id, taskId: task?.id ?? 'none' };
  }
  const decide = (what: string, ...args: string[]) =>
    json('unconfirmed', what, ...args, '--reason', 'looked into the console', '--by', 'ada');

  test('before it, status says to decide', async () => {
    const { id } = await lost('a quiet harbour');
    const { reply } = await json('status', id);
    expect(reply.data).toMatchObject({ outcome: { outcome: 'unconfirmed' }, decisions: [] });
    expect(reply.data?.['safe']).toContain('adopt its task, declare it lost or resubmit it');
  });

  test('adopted: status names who decided and what follows, and resume of the id goes on to the file', async () => {
    const { id, taskId } = await lost('a harbour at dawn');
    const before = await accepted();
    expect((await decide('adopt', id, taskId)).code).toBe(0);
    const { reply } = await json('status', id);
    expect(reply.data).toMatchObject({
      creationKey: id,
      video: { taskId },
      decisions: [{ decision: 'adopt', by: 'ada', taskId }],
      safe: expect.stringMatching(new RegExp(`^ada decided at .*temporal-media resume ${taskId}`)) as string,
    });
    const text = await runCli(['status', id], bench.clientEnv);
    expect(text.stdout).toMatch(
      new RegExp(`^Decided: +adopt ${taskId} by ada at .*: looked into the console$`, 'm'),
    );

    const resumed = await json('resume', id, '--out', path.join(bench.dir, 'out'));
    expect(resumed.reply.data).toMatchObject({ outcome: 'completed', video: { taskId } });
    expect(resumed.reply.data?.files).toHaveLength(1);
    const after = await json('status', id);
    expect(after.reply.data).toMatchObject({
      workflow: { type: 'awaitVideo', status: 'COMPLETED' },
      otherWorkflows: [{ workflowId: id }],
      outcome: { outcome: 'completed' },
      safe: expect.stringContaining('It is done.') as string,
    });
    expect(await accepted()).toBe(before);

    const told = await json('replay', id);
    expect(told.reply.data?.['targets']).toMatchObject([
      {
        since: {
          decisions: [{ decision: 'adopt', by: 'ada' }],
          waitedBy: expect.stringMatching(/^await-video\//) as string,
        },
      },
    ]);
  });

  test('declared lost: nothing advises a decision any more, and resume says why there is nothing to wait for', async () => {
    const { id } = await lost('a harbour in fog');
    expect((await decide('declare-lost', id)).code).toBe(0);
    const { reply } = await json('status', id);
    expect(reply.data?.['safe']).toMatch(/^ada declared it lost at .*To buy it again, use another id/);
    const told = await runCli(['replay', id], bench.clientEnv);
    expect(told.stdout).toMatch(/^ {2}since +declareLost by ada at .*: looked into the console$/m);
    expect(told.stdout).toMatch(/^ {2}now +ada declared it lost at/m);
    const resumed = await json('resume', id);
    expect([resumed.code, resumed.reply.error?.type]).toEqual([65, 'resume_not_possible']);
    expect(resumed.reply.error?.message).toMatch(/ada declared it lost at/);
  });

  test('resubmitted: the same id, started again, sends it once more', async () => {
    const { id } = await lost('a harbour at night');
    const before = await accepted();
    expect((await decide('resubmit', id, '--yes')).code).toBe(0);
    const { reply } = await json('status', id);
    expect(reply.data?.['safe']).toContain(`Start the same request again with creation key ${id} `);
    const again = await json(
      ...['video', '--model', 'cine-1', '--duration', '2', '--prompt', 'a harbour at night', '--id', id],
      ...['--out', path.join(bench.dir, 'again')],
    );
    expect(again.reply.data).toMatchObject({ outcome: 'completed' });
    expect(await accepted()).toBe(before + 1);
    const after = await json('status', id);
    expect(after.reply.data).toMatchObject({ outcome: { outcome: 'completed' }, decisions: [] });
    const [earlier] = after.reply.data?.['earlierRuns'] as readonly string[];
    const told = await runCli(['replay', id], bench.clientEnv);
    expect(told.stdout).toContain(`temporal-media replay ${id} --run-id ${earlier}`);
    const first = await runCli(['replay', id, '--run-id', earlier ?? ''], bench.clientEnv);
    expect(first.stdout).toMatch(/^ +outcome +unconfirmed$/m);
  });
});
