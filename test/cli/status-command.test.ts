import { rename } from 'node:fs/promises';
import path from 'node:path';
import { type VideoOutcome } from '../../src/domain';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { eventually } from '../support/eventually';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliRun, runCli, runJson, startCli } from './support/run-cli';

const ANY_TEXT = expect.any(String) as unknown;

/** Lines of `-o jsonl`, each of them versioned. */
function linesOf({ stdout }: CliRun): Record<string, unknown>[] {
  const lines = stdout.trimEnd().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const line of parsed) expect(line).toMatchObject({ v: 1, type: ANY_TEXT, at: ANY_TEXT });
  return parsed;
}

describe('status and watch', () => {
  let bench: CliBench;
  let taskId: string;
  let ids: Readonly<Record<'garden' | 'tower' | 'boat' | 'kite', string>>;
  const video = (prompt: string, ...more: string[]): string[] => [
    ...['video', '--model', 'sketch-lite', '--prompt', prompt, '--out', path.join(bench.dir, 'out')],
    ...more,
  ];

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    const uniqueId = (name: string): string => bench.server.uniqueId(name);
    ids = {
      garden: uniqueId('garden'),
      tower: uniqueId('tower'),
      boat: uniqueId('boat'),
      kite: uniqueId('kite'),
    };
    await bench.startWorker();
    await runJson(
      video('a secret garden [run:60s]', '--id', ids.garden, '--wait-for', '1s'),
      bench.clientEnv,
    );
    // On a busy machine the command does not wait long enough for the outcome.
    const outcome = (await bench.server.client.workflow.getHandle(ids.garden).result()) as VideoOutcome;
    if (outcome.outcome !== 'still_running') throw new Error(outcome.outcome);
    ({ taskId } = outcome.video);
  });
  afterAll(() => bench.close());

  test('a task id alone leads to workflow, run, account, facts and the safe step; nothing is created and no prompt is told', async () => {
    const before = await bench.sandbox.admin.counters();
    const { code, reply, stdout } = await runJson(['status', taskId], bench.clientEnv);
    expect(code).toBe(0);
    expect(reply.data).toMatchObject({
      id: taskId,
      foundBy: 'journal',
      creationKey: ids.garden,
      video: {
        taskId,
        model: 'sketch-lite',
        account: expect.stringMatching(/^default@[0-9a-f]{8}$/) as unknown,
      },
      workflow: {
        workflowId: ids.garden,
        type: 'generateVideo',
        status: 'COMPLETED',
        runId: ANY_TEXT,
      },
      outcome: { outcome: 'still_running' },
      service: { known: true, httpStatus: 200, status: ANY_TEXT },
      safe: 'Resume it by its task id. This creates nothing.',
    });
    expect(stdout).not.toContain('secret');
    expect((await bench.sandbox.admin.counters()).creates).toEqual(before.creates);
  });

  test('without the journal on this machine a worker is asked; text is one fact a line on stdout', async () => {
    const env = { ...bench.clientEnv, MEDIA_DATA_DIR: path.join(bench.dir, 'elsewhere') };
    const { code, stdout } = await runCli(['status', taskId], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Found by: +journal$/m);
    expect(stdout).toMatch(
      new RegExp(`^Workflow: +${ids.garden} \\(generateVideo, run .*\\), completed`, 'm'),
    );
    expect(stdout).toMatch(/^Account: +default@/m);
    expect(stdout).toMatch(/^Safe to do: +Resume it/m);
  });

  test('a task id that another account has had too is told', async () => {
    const journal = createFileJournal({ root: path.join(bench.dir, 'data', 'journal') });
    const [entry] = await journal.findTask(taskId);
    if (entry === undefined) throw new Error('The journal does not know the task.');
    await journal.indexTask({ ...entry, video: { ...entry.video, account: 'zz-other@00000000' } });
    const { reply } = await runJson(['status', taskId], bench.clientEnv);
    const accounts = [entry.video.account, 'zz-other@00000000'];
    expect(accounts).toContain((reply.data?.['video'] as { account: string }).account);
    expect(reply.data?.['notes']).toEqual([
      expect.stringMatching(/also exist under other accounts: (default|zz-other)@/),
    ]);
  });

  test('a running workflow: its state, next poll and what is safe', async () => {
    await runCli(video('a tower [run:20s]', '--id', ids.tower, '--detach'), bench.clientEnv);
    const watching = startCli(['watch', ids.tower, '-o', 'jsonl'], bench.clientEnv);
    await watching.untilLine('stdout', /"phase":"watching".*"lastStatus":"in_progress"/);
    const { code, reply } = await runJson(['status', ids.tower], bench.clientEnv);
    expect(code).toBe(0);
    expect(reply.data).toMatchObject({
      foundBy: 'workflow_id',
      workflow: { status: 'RUNNING' },
      state: { phase: 'watching', nextPollAt: ANY_TEXT, deadlineAt: ANY_TEXT },
      outcome: null,
      service: null,
    });
    expect(reply.data?.['safe']).toMatch(/\w/);
    watching.child.kill('SIGINT');
    const run = await watching.ended;
    expect(run.code).toBe(130);
    const lines = linesOf(run);
    expect(lines[0]).toMatchObject({ type: 'watching', workflowId: ids.tower });
    expect(lines.at(-1)).toMatchObject({ type: 'result', ok: false, error: { type: 'interrupted' } });
    expect(run.stderr).toContain(`temporal-media watch ${ids.tower}`);
  });

  test('watch by task id goes to the outcome and saves nothing', async () => {
    const started = startCli(video('a boat [run:4s]', '--id', ids.boat, '--detach'), bench.clientEnv);
    await started.ended;
    const { code, reply } = await runJson(['watch', ids.boat], bench.clientEnv);
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    expect(reply.data).not.toHaveProperty('files');
    const { taskId: boat } = reply.data?.['video'] as { taskId: string };
    const again = await runCli(['watch', boat, '-o', 'jsonl'], bench.clientEnv);
    expect([again.code, linesOf(again).at(-1)]).toMatchObject([0, { type: 'result', ok: true }]);
  });

  test('a paid command with -o jsonl: started, states, one envelope', async () => {
    const run = await runCli([...video('a kite [run:5s]', '--id', ids.kite), '-o', 'jsonl'], bench.clientEnv);
    const lines = linesOf(run);
    expect(lines[0]).toMatchObject({ type: 'started', workflowId: ids.kite, isNew: true });
    expect(lines.some((line) => line['type'] === 'state')).toBe(true);
    expect(lines.filter((line) => line['type'] === 'result')).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ type: 'result', ok: true, data: { outcome: 'completed' } });
    expect(run.stdout).not.toContain('a kite');
  });

  test('an id that nobody knows: exit code 65, and what was looked into', async () => {
    const { code, reply } = await runJson(['status', 'vid_never_made'], bench.clientEnv);
    expect([code, reply.error?.type]).toEqual([65, 'not_found']);
  });

  test('without journal and worker the histories lead to the workflow', async () => {
    const queue = bench.server.uniqueId('empty');
    const env = {
      ...bench.clientEnv,
      MEDIA_TASK_QUEUE: queue,
      MEDIA_DATA_DIR: path.join(bench.dir, 'elsewhere'),
    };
    const { code, reply } = await runJson(['status', taskId], env);
    expect(code).toBe(0);
    expect(reply.data).toMatchObject({
      foundBy: 'visibility',
      workflow: { workflowId: ids.garden, status: 'COMPLETED' },
      video: { taskId },
      // Its workers are those of its own queue, and one polls that.
      hasWorker: true,
      notes: [],
    });
  });

  test('of a workflow that waits, without a worker: the task is in its history', async () => {
    const id = bench.server.uniqueId('waiting');
    await runCli([...video('a boat [run:600s]', '--id', id), '--detach'], bench.clientEnv);
    const handle = bench.server.client.workflow.getHandle(id);
    const { taskId: waiting } = await eventually(
      'the task',
      async () =>
        (await handle.query<{ readonly video: { readonly taskId: string } | null }>('video_state')).video ??
        undefined,
    );
    const env = { ...bench.clientEnv, MEDIA_DATA_DIR: path.join(bench.dir, 'elsewhere') };
    const { code, reply } = await runJson(['status', id], {
      ...env,
      MEDIA_TASK_QUEUE: bench.server.uniqueId('none'),
    });
    expect(code).toBe(0);
    expect(reply.data).toMatchObject({ workflow: { workflowId: id }, video: { taskId: waiting } });
    await handle.terminate();
  });

  test('a task of another journal is found by the service alone', async () => {
    const journal = path.join(bench.dir, 'data', 'journal');
    await rename(path.join(journal, 'tasks'), path.join(journal, 'tasks-away'));
    try {
      const foreign = await fetch(`${bench.sandbox.url}/v1/videos`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sketch-lite', prompt: 'made elsewhere' }),
      });
      const { id } = (await foreign.json()) as { id: string };
      const { code, reply } = await runJson(['status', id], bench.clientEnv);
      expect(code).toBe(0);
      expect(reply.data).toMatchObject({
        foundBy: 'service',
        workflow: null,
        service: { known: true },
        safe: expect.stringContaining(`temporal-media resume ${id}`) as unknown,
      });
    } finally {
      await rename(path.join(journal, 'tasks-away'), path.join(journal, 'tasks'));
    }
  });
});
