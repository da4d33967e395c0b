import path from 'node:path';
import { expectDocumented } from './schemas/documented';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliProcess, runCli, runJson } from './support/run-cli';

/** `--wait-for` bounds what the person waits for, whatever hangs; the workflow goes on. */
describe('the end of --wait-for', () => {
  let bench: CliBench;
  let worker: CliProcess;
  const statusOf = async (id: string): Promise<string> =>
    (await bench.server.client.workflow.getHandle(id).describe()).status.name;
  const out = (): string => path.join(bench.dir, 'out');

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 200 } });
    await bench.sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: 'hung create',
        action: { type: 'lose_reply', accepted: true, how: 'stall' },
      },
      {
        operation: 'generate',
        promptIncludes: 'hung image',
        action: { type: 'lose_reply', accepted: true, how: 'stall' },
      },
      {
        operation: 'content',
        promptIncludes: 'no content',
        times: 0,
        action: { type: 'status', status: 503 },
      },
      {
        operation: 'media',
        promptIncludes: 'no content',
        times: 0,
        action: { type: 'status', status: 503 },
      },
    ]);
    worker = await bench.startWorker();
  });
  afterAll(async () => {
    // It would finish what hangs.
    worker.child.kill('SIGKILL');
    await bench.close();
  });

  test.concurrent('a create that hangs is left: exit code 75, no task yet, and the workflow goes on', async () => {
    const id = bench.server.uniqueId('hung');
    const args = ['video', '--model', 'sketch-lite', '--prompt', 'hung create', '--id', id, '--out', out()];
    const { code, reply, stderr } = await runJson([...args, '--wait-for', '1s'], bench.clientEnv);
    expect([code, reply.ok]).toEqual([75, true]);
    expect(expectDocumented('left-running', reply.data)).toMatchObject({
      workflowId: id,
      isNew: true,
      state: { phase: 'creating', taskId: null },
    });
    expect(reply.data).not.toHaveProperty('outcome');
    expect(stderr).toContain(`Continue with: temporal-media resume ${id}`);
    expect(await statusOf(id)).toBe('RUNNING');
  });

  test.concurrent('a download that is tried again and again is left; the line says which try, and why', async () => {
    const id = bench.server.uniqueId('no-content');
    const args = ['video', '--model', 'sketch-lite', '--prompt', 'no content', '--id', id, '--out', out()];
    const { code, reply, stderr } = await runJson([...args, '--wait-for', '20s'], bench.clientEnv);
    expect([code, reply.ok]).toEqual([75, true]);
    expect(expectDocumented('left-running', reply.data).state).toMatchObject({ phase: 'downloading' });
    expect(stderr).toMatch(/^task \S+: downloading, attempt \d+, the last one failed: .*503/m);
    expect(await statusOf(id)).toBe('RUNNING');
    const watched = await runJson(['watch', id, '--wait-for', '1s'], bench.clientEnv);
    expect([watched.code, expectDocumented('left-running', watched.reply.data).state?.phase]).toEqual([
      75,
      'downloading',
    ]);
  });

  test.concurrent('an image call that hangs is left too', async () => {
    const id = bench.server.uniqueId('hung-image');
    const args = ['image', '--model', 'image-2', '--prompt', 'hung image', '--id', id, '--out', out()];
    const { code, stderr } = await runCli([...args, '--wait-for', '1s'], bench.clientEnv);
    expect(code).toBe(75);
    expect(stderr).toContain(`--id=${id}`);
    const { reply } = await runJson(['status', id], bench.clientEnv);
    const { workflow, activity } = reply.data as {
      readonly [run: string]: { readonly status: string } | null;
    };
    expect((workflow ?? activity)?.status).toBe('RUNNING');
  });
});
