import path from 'node:path';
import { freePort } from '../../src/stores/files/this-machine';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runJson, startCli } from './support/run-cli';

describe('temporal-media worker', () => {
  let bench: CliBench;
  const video = (env: NodeJS.ProcessEnv, prompt = 'a cat') =>
    runJson(['video', '--model', 'sketch-lite', '--prompt', prompt, '--out', bench.dir], env);
  /** A queue and a journal of its own. */
  const apart = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
    const MEDIA_TASK_QUEUE = bench.server.uniqueId('cli');
    return { ...env, MEDIA_TASK_QUEUE, MEDIA_JOURNAL: path.join(bench.dir, MEDIA_TASK_QUEUE) };
  };
  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
  });
  afterAll(() => bench.close());

  test('[C7.3] a wrong key: exit code 77, tried once, and the key is shown nowhere', async () => {
    const env = { ...apart(bench.workerEnv), MEDIA_API_KEY: 'wrong-key-4711' };
    const worker = await bench.startWorker(env);
    const before = (await bench.sandbox.admin.counters()).creates;
    const { code, reply, stdout, stderr } = await video(env);
    expect([code, reply.error?.type]).toEqual([77, 'rejected/credentials']);
    const after = (await bench.sandbox.admin.counters()).creates;
    expect(after).toEqual({ received: before.received + 1, accepted: before.accepted });
    worker.child.kill('SIGTERM');
    const { code: ended, stderr: log } = await worker.ended;
    expect(ended).toBe(0);
    expect(`${stdout}${stderr}${log}`).not.toContain('wrong-key-4711');
    // Its queues for activities have no workflows on purpose.
    expect(log).toContain('Draining');
    expect(log).not.toContain('No workflows registered');
  });

  test('an unreachable service: exit code 69, nothing was sent', async () => {
    const MEDIA_BASE_URL = `http://127.0.0.1:${await freePort()}`;
    const env = { ...apart(bench.workerEnv), MEDIA_BASE_URL };
    await bench.startWorker(env);
    const { code, reply } = await video(env);
    expect([code, reply.error?.type]).toEqual([69, 'rejected/not_sent']);
    expect(reply.data).toMatchObject({ outcome: 'rejected', sends: 0 });
  });

  test('without a worker a command says so first', async () => {
    const env = apart(bench.clientEnv);
    const id = bench.server.uniqueId('waits');
    const args = ['image', '--model', 'image-2', '--prompt', 'x', '--id', id];
    const { code, stderr } = await runJson([...args, '--as', 'workflow', '--detach'], env);
    expect(code).toBe(0);
    expect(stderr).toContain(`no worker is polling task queue ${env['MEDIA_TASK_QUEUE']}`);
    await bench.server.client.workflow.getHandle(id).terminate();
  });

  test('another journal on the same task queue: refuses to start, with the remedies', async () => {
    const env = apart(bench.workerEnv);
    await bench.startWorker(env);
    const other = { ...env, MEDIA_JOURNAL: path.join(bench.dir, 'other-journal') };
    const { code, reply } = await runJson(['worker'], other);
    expect([code, reply.error?.type]).toEqual([78, 'journal_binding']);
    expect(reply.error?.message).toContain('MEDIA_TASK_QUEUE');
  });

  test('a rebind says what it gives up, and does nothing before somebody agrees', async () => {
    const env = apart(bench.workerEnv);
    const first = await bench.startWorker(env);
    const id = bench.server.uniqueId('rebound');
    const args = ['video', '--model', 'sketch-lite', '--prompt', 'once', '--id', id, '--out', bench.dir];
    expect((await runJson(args, env)).code).toBe(0);
    first.child.kill('SIGTERM');
    await first.ended;
    const other = { ...env, MEDIA_JOURNAL: `${env['MEDIA_JOURNAL']}-other` };
    const unasked = await runJson(['worker', '--rebind'], other);
    expect([unasked.code, unasked.reply.error?.type]).toEqual([6, 'rebind_not_confirmed']);
    expect(unasked.reply.data).toMatchObject({ found: [id], unconfirmed: [] });
    expect(unasked.stderr).toContain(`found again when started under their ids: ${id}`);
    // The queue is still that of the first journal.
    expect((await runJson(['worker'], other)).reply.error?.type).toBe('journal_binding');
    const taker = startCli(['worker', '--rebind', '--yes', '--json'], other);
    await taker.untilLine('stdout', /"ok":true/);
    expect((await runJson(args, env)).code).toBe(0);
    const hashes = Object.values((await bench.sandbox.admin.counters()).acceptedByPromptHash);
    expect(Math.max(...hashes)).toBe(1);
    taker.child.kill('SIGTERM');
    expect((await taker.ended).stderr).toContain(id);
  });

  test('a worker with another account than those before it says so', async () => {
    const env = apart(bench.workerEnv);
    const one = await bench.startWorker({ ...env, MEDIA_CREDENTIAL: 'one' });
    const two = await bench.startWorker({ ...env, MEDIA_CREDENTIAL: 'two' });
    one.child.kill('SIGTERM');
    two.child.kill('SIGTERM');
    expect((await two.ended).stderr).toMatch(/also had workers for one@/);
    expect((await one.ended).stderr).not.toContain('also had workers');
  });

  test('SIGTERM drains: a create that is under way is finished and recorded', async () => {
    const env = apart(bench.workerEnv);
    const worker = startCli(['worker', '--json'], env);
    await worker.untilLine('stdout', /"ok":true/);
    await bench.sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: 'a slow cat', action: { type: 'delay', ms: 2_000 } },
    ]);
    const waiting = video(env, 'a slow cat');
    const arrived = async (): Promise<boolean> => {
      const creates = await bench.sandbox.admin.requests({ operation: 'create' });
      return creates.some(({ json }) => JSON.stringify(json).includes('a slow cat'));
    };
    while (!(await arrived()));
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    await bench.startWorker(env);
    const { code, reply } = await waiting;
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    const hashes = Object.values((await bench.sandbox.admin.counters()).acceptedByPromptHash);
    expect(Math.max(...hashes)).toBe(1);
  });
});
