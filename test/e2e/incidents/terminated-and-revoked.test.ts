import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CliBench, openCliBench } from '../../cli/support/cli-bench';
import { runCli, runJson, startCli } from '../../cli/support/run-cli';

const ANY_TEXT = expect.any(String) as unknown;

/** Somebody has terminated the workflow, or the key of the service was revoked. */
describe('a terminated workflow and a revoked key', () => {
  let bench: CliBench;
  let keyFile: string;
  const created = async (): Promise<number> => (await bench.sandbox.admin.counters()).creates.received;
  const start = async (name: string, prompt: string): Promise<string> => {
    const id = bench.server.uniqueId(name);
    const args = ['video', '--model', 'sketch-lite', '--prompt', prompt, '--id', id, '--detach'];
    expect((await runCli(args, bench.clientEnv)).code).toBe(0);
    return id;
  };
  /** Waits until the workflow polls, and returns its task. */
  const watching = async (id: string, line: RegExp): Promise<string> => {
    const watch = startCli(['watch', id, '-o', 'jsonl'], bench.clientEnv);
    const found = await watch.untilLine('stdout', line);
    watch.child.kill('SIGINT');
    await watch.ended;
    return (JSON.parse(found) as { state: { taskId: string } }).state.taskId;
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    keyFile = path.join(bench.dir, 'key.txt');
    await writeFile(keyFile, 'sandbox-key\n');
    await bench.startWorker({ MEDIA_API_KEY: '', MEDIA_API_KEY_FILE: keyFile });
  });
  afterAll(() => bench.close());

  test('a terminated workflow: its task id leads to it, and resume fetches the video without creating one', async () => {
    const id = await start('terminated', 'a pond [run:6s]');
    const taskId = await watching(id, /"phase":"watching"/);
    await bench.server.client.workflow.getHandle(id).terminate('by somebody');
    const before = await created();
    const { code, reply } = await runJson(['status', taskId], bench.clientEnv);
    expect(code).toBe(0);
    expect(reply.data).toMatchObject({
      foundBy: 'journal',
      workflow: { workflowId: id, status: 'TERMINATED' },
      service: { known: true },
      safe: `Run \`temporal-media resume ${taskId}\`, which polls and downloads but never creates.`,
    });
    const lines = await runCli(['status', taskId], bench.clientEnv);
    expect(lines.stdout).toMatch(/^Last state: /m);
    expect(lines.stdout).not.toMatch(/^(Deadline|Next poll):/m);
    const resumed = await runJson(['resume', taskId, '--out', bench.dir], bench.clientEnv);
    expect([resumed.code, resumed.reply.data?.files]).toEqual([0, [path.join(bench.dir, `${taskId}.mp4`)]]);
    expect(await created()).toBe(before);
  });

  test('a revoked key: the state names the credential and its account; the file is read again without a restart', async () => {
    const id = await start('revoked', 'a river [run:9s]');
    await watching(id, /"lastStatus":"in_progress"/);
    await writeFile(keyFile, 'revoked-key');
    await watching(id, /"class":"credentials"/);
    const { reply } = await runJson(['status', id], bench.clientEnv);
    expect(reply.data).toMatchObject({
      state: { lastHttpStatus: 401, consecutiveErrors: 1, nextPollAt: ANY_TEXT },
      safe: expect.stringMatching(
        /^The service rejects the key of credential default\..* default@[0-9a-f]{8}\./,
      ) as unknown,
    });
    await writeFile(keyFile, 'sandbox-key');
    const { code } = await runJson(['watch', id], bench.clientEnv);
    expect(code).toBe(0);
  }, 150_000);
});
