import path from 'node:path';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliRun, runCli, runJson } from './support/run-cli';

const WHY = ['--reason', 'looked into the console', '--by', 'ada'];

describe('unconfirmed, orphans and journal', () => {
  let bench: CliBench;
  const video = (prompt: string, id: string, ...more: string[]): string[] => [
    ...['video', '--model', 'cine-1', '--duration', '2', '--prompt', prompt, '--id', id],
    ...['--out', path.join(bench.dir, 'out'), ...more],
  ];
  const run = (...args: string[]): Promise<CliRun> => runCli(args, bench.clientEnv);
  const json = (...args: string[]) => runJson(args, bench.clientEnv);
  const accepted = async (): Promise<number> => (await bench.sandbox.admin.counters()).creates.accepted;

  /** A video whose reply was lost; the service accepted it. */
  async function lost(prompt: string): Promise<{ id: string; run: CliRun }> {
    await bench.sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const id = bench.server.uniqueId('lost');
    const ended = await run(...video(prompt, id));
    expect(ended.code).toBe(5);
    return { id, run: ended };
  }

  async function taskOf(prompt: string): Promise<string> {
    const task = (await bench.sandbox.admin.tasks()).find((one) => one.prompt === prompt);
    return task?.id ?? 'none';
  }

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('[C4.4c] a lost reply: three commands with their cost, no word about running it again; adopted it completes', async () => {
    const prompt = 'a secret harbour';
    const { id, run: ended } = await lost(prompt);
    expect(ended.stderr).toMatch(
      new RegExp(`temporal-media unconfirmed adopt --reason WHY --send=\\S+ ${id} TASK`),
    );
    expect(ended.stderr).toMatch(
      new RegExp(`temporal-media unconfirmed declare-lost --reason WHY --send=\\S+ ${id}`),
    );
    expect(ended.stderr).toMatch(/resubmit --reason WHY .*\n +send it again; costs an estimated \d/);
    expect(ended.stderr).not.toMatch(/temporal-media video|run (?:it|the same command) again|try again/i);

    const listed = await json('unconfirmed');
    expect(listed.reply.data?.['unconfirmed']).toContainEqual(
      expect.objectContaining({ creationKey: id, state: 'unconfirmed', operation: 'create_video' }),
    );
    const table = await run('unconfirmed');
    expect(table.stdout).toMatch(new RegExp(`^${id} +unconfirmed +create_video +cine-1`, 'm'));
    const shown = await run('unconfirmed', 'show', id);
    expect(shown.stdout).toMatch(/^evidence bodyHash: [0-9a-f]{64}$/m);
    for (const text of [listed.stdout, table.stdout, shown.stdout, shown.stderr])
      expect(text).not.toContain('secret');

    const taskId = await taskOf(prompt);
    const adopted = await json('unconfirmed', 'adopt', id, taskId, ...WHY);
    expect([adopted.code, adopted.reply.data?.['resolved']]).toEqual([0, true]);
    const again = await json(...video(prompt, id));
    expect(again.reply.data).toMatchObject({ outcome: 'completed', video: { taskId } });
    expect(await accepted()).toBe(1);
    // The same decision again changes nothing.
    expect((await run('unconfirmed', 'adopt', id, taskId, ...WHY)).code).toBe(0);
    expect((await run('unconfirmed', 'show', id)).stdout).toMatch(
      new RegExp(`^decided: adopt ${taskId} by ada at .*: looked into the console$`, 'm'),
    );
  });

  test('[C4.4c] the same request under another id ends with code 7 until it is settled, or with --again', async () => {
    const prompt = 'a lost lighthouse';
    const { id } = await lost(prompt);
    const before = await accepted();
    const other = bench.server.uniqueId('other');
    const refused = await json(...video(prompt, other));
    expect(refused.code).toBe(7);
    expect(refused.reply.error).toMatchObject({ type: 'rejected/unconfirmed_open' });
    expect(refused.reply.error?.message).toContain(id);
    expect(await accepted()).toBe(before);
    expect((await json(...video(prompt, bench.server.uniqueId('again'), '--again'))).code).toBe(0);
    expect((await run('unconfirmed', 'declare-lost', id, ...WHY)).code).toBe(0);
    expect((await json(...video(prompt, other))).code).toBe(0);
    expect(await accepted()).toBe(before + 2);
  });

  test('a resubmission needs an agreement; a refused decision says why', async () => {
    const prompt = 'a lost windmill';
    const { id } = await lost(prompt);
    const before = await accepted();
    const unasked = await json('unconfirmed', 'resubmit', id, ...WHY);
    expect([unasked.code, unasked.reply.error?.type]).toEqual([6, 'spend_not_confirmed']);
    const wrong = await json('unconfirmed', 'adopt', id, 'video_nobody', ...WHY);
    expect([wrong.code, wrong.reply.error?.type]).toEqual([65, 'decision_refused']);
    expect((await run('unconfirmed', 'declare-lost', id)).code).toBe(2);
    expect((await run('unconfirmed', 'resubmit', id, ...WHY, '--yes')).code).toBe(0);
    expect(await accepted()).toBe(before);
    expect((await json(...video(prompt, id))).code).toBe(0);
    expect(await accepted()).toBe(before + 1);
    const nobody = await json('unconfirmed', 'show', 'nobody');
    expect([nobody.code, nobody.reply.error?.type]).toEqual([65, 'not_found']);
  });

  test('a lost reply that was billed is shown as probably accepted; declared lost, its bill still counts', async () => {
    const { id } = await lost('a lost and billed mill');
    const bill = ['--amount', '0.12USD', '--reference', 'invoice 2026-11', ...WHY];
    expect((await runCli(['money', 'settle', id, ...bill], bench.workerEnv)).code).toBe(0);
    const shown = await json('unconfirmed', 'show', id);
    const actual = { microUnits: 120_000, currency: 'USD' };
    expect(shown.reply.data?.['unconfirmed']).toMatchObject([{ actual }]);
    const said = await run('unconfirmed', 'show', id);
    expect(said.stderr).toMatch(/0\.12 USD was billed for this send, so the service probably accepted it/);
    expect(said.stderr).not.toMatch(/costs nothing, and|not accepted/);
    const again = await json('unconfirmed', 'resubmit', id, ...WHY);
    expect(again.reply.error?.message).toContain('although the first send was billed 0.12 USD');
    const declared = await run('unconfirmed', 'declare-lost', id, ...WHY);
    expect([declared.code, declared.stderr]).toEqual([0, expect.stringContaining('bill of 0.12 USD')]);
    const report = await runJson(['money', 'review'], bench.workerEnv);
    expect(JSON.stringify(report.reply.data)).not.toContain(id);
  });

  test('orphans names the paid task of a terminated workflow until somebody fetches it', async () => {
    const prompt = 'an orphaned balloon [run:600s]';
    const id = bench.server.uniqueId('orphan');
    await run(...video(prompt, id, '--detach'));
    while ((await taskOf(prompt)) === 'none') await new Promise((resolve) => setTimeout(resolve, 50));
    const taskId = await taskOf(prompt);
    const orphans = async (): Promise<unknown[]> =>
      (await json('orphans')).reply.data?.['orphans'] as unknown[];
    const named = expect.objectContaining({ taskId, creationKey: id, endedAs: 'TERMINATED' }) as unknown;
    expect(await orphans()).not.toContainEqual(named);
    await bench.server.client.workflow.getHandle(id).terminate();
    expect(await orphans()).toContainEqual(named);
    await bench.sandbox.admin.patchTask(taskId, { status: 'completed' });
    expect((await json('resume', taskId, '--out', path.join(bench.dir, 'out'))).code).toBe(0);
    expect(await orphans()).not.toContainEqual(named);
  });

  test('journal prune removes what is old and settled, never below the retention, never what is open', async () => {
    const { id } = await lost('a lost kite that stays');
    const tooShort = await json('journal', 'prune', '--older-than', '1s');
    expect(tooShort.code).toBe(65);
    const young = await json('journal', 'prune', '--older-than', '3650d');
    expect(young.reply.data).toMatchObject({ removed: 0, dryRun: false });
    expect(Number(young.reply.data?.['keptYoung'])).toBeGreaterThan(0);
    expect((await json('unconfirmed', 'show', id)).code).toBe(0);
  });
});
