import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EXIT } from '../../packages/cli/src/shared/exit-codes';
import { freePort } from '../../src/stores/files/this-machine';
import { type CliBench, openCliBench } from './support/cli-bench';
import { runJson, replyOf, startCli } from './support/run-cli';

/** Every exit code of the registry by the real binary, with stdout holding one object and nothing else. */
describe('every exit code', () => {
  let bench: CliBench;
  let env: NodeJS.ProcessEnv;
  let out: string;
  const seen = new Set<number | null>();

  const video = (prompt: string, ...more: string[]): string[] => [
    ...['video', '--model', 'sketch-lite', '--prompt', prompt, '--out', out],
    ...more,
  ];
  const run = async (args: readonly string[], own: NodeJS.ProcessEnv = {}) => {
    const { code, reply } = await runJson(args, { ...env, ...own });
    seen.add(code);
    // The envelope says the same as the code: 0 and "still running" are successes.
    expect(reply.ok).toBe(code === EXIT.done || code === EXIT.stillRunning);
    return { code, type: reply.error?.type, reply };
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    env = bench.clientEnv;
    out = path.join(bench.dir, 'out');
    await bench.startWorker();
  });
  afterAll(() => bench.close());

  test('0 done', async () => {
    expect(await run(video('a boat'))).toMatchObject({ code: 0, type: undefined });
  });

  test('1 unexpected: a task queue that the server refuses', async () => {
    const { code, type } = await run(['status', 'x'], {
      TEMPORAL_NAMESPACE: '',
      MEDIA_TASK_QUEUE: 'q'.repeat(2_000),
    });
    expect([code, type]).toEqual([1, 'unexpected']);
  });

  test('2 wrong usage', async () => {
    expect(await run(['video', '--modle', 'x'])).toMatchObject({ code: 2, type: 'usage' });
  });

  test('3 moderation, 4 capacity, 5 finished with failures', async () => {
    const [moderation, capacity, unknown, unconfirmed] = await Promise.all([
      run(video('x [fail:moderation]')),
      run(video('x [fail:capacity]')),
      run(video('x [fail:unknown]')),
      run(video('x [lost-reply]')),
    ]);
    expect(moderation).toMatchObject({ code: 3, type: 'failed/moderation' });
    expect(capacity).toMatchObject({ code: 4, type: 'failed/capacity' });
    expect(unknown).toMatchObject({ code: 5, type: 'failed/unknown' });
    expect(unconfirmed).toMatchObject({ code: 5, type: 'unconfirmed' });
  });

  test('7 the same request is unconfirmed under another id: nothing is sent', async () => {
    expect(await run(video('x [lost-reply]'))).toMatchObject({ code: 7, type: 'rejected/unconfirmed_open' });
  });

  test('6 spend not confirmed: without a terminal it fails closed and nothing is sent', async () => {
    const paid = async () => (await bench.sandbox.admin.counters()).creates;
    const before = await paid();
    const models = { MEDIA_MODELS: bench.sandbox.modelsUrl };
    const args = ['video', '--model', 'cine-1', '--prompt', 'x', '--duration', '8', '--max-spend', '0.01'];
    expect(await run([...args, '--out', out], models)).toMatchObject({
      code: 6,
      type: 'spend_not_confirmed',
    });
    expect(await paid()).toEqual(before);
  });

  test('8 an invoice differs from the journal', async () => {
    const file = path.join(bench.dir, 'invoice.csv');
    await writeFile(file, 'task_id,amount,currency\n,1.00,USD\n');
    expect(await run(['money', 'check', file])).toMatchObject({ code: 8, type: 'invoice_differs' });
  });

  test('65 bad input', async () => {
    expect(await run(video(' '))).toMatchObject({ code: 65, type: 'rejected/invalid_request' });
  });

  test('69 unreachable', async () => {
    const own = { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    expect(await run(video('x'), own)).toMatchObject({ code: 69, type: 'temporal_unreachable' });
  });

  test('73 cannot write', async () => {
    const file = path.join(bench.dir, 'file');
    await writeFile(file, 'in the way');
    const { code, type } = await run([...video('x'), '--out', path.join(file, 'out')]);
    expect([code, type]).toEqual([73, 'cannot_write']);
  });

  test('75 still running', async () => {
    const { code, reply } = await run(video('x [run:30s]', '--wait-for', '1s'));
    expect([code, reply.data?.['outcome']]).toEqual([75, 'still_running']);
  });

  test('76 the file is not a video', async () => {
    const truncate = { type: 'truncate', bytes: 2_000 } as const;
    const rule = { model: 'open-canvas', times: 0, action: truncate };
    await bench.sandbox.admin.addFaults([
      { ...rule, operation: 'content' },
      { ...rule, operation: 'media' },
    ]);
    const args = ['video', '--model', 'open-canvas', '--prompt', 'half a boat', '--out', out];
    expect(await run(args)).toMatchObject({ code: 76, type: 'content_unavailable/incomplete_file' });
  });

  test('77 credentials', async () => {
    const queue = bench.server.uniqueId('no-key');
    const own = { MEDIA_TASK_QUEUE: queue, MEDIA_DATA_DIR: path.join(bench.dir, 'other') };
    await bench.startWorker({ ...own, MEDIA_API_KEY: 'not-let-in' });
    expect(await run(video('x'), own)).toMatchObject({ code: 77, type: 'rejected/credentials' });
  });

  test('78 configuration', async () => {
    expect(await run(['worker'])).toMatchObject({ code: 78, type: 'configuration' });
  });

  test('130 interrupted: detached, never cancelled', async () => {
    const bell = bench.server.uniqueId('bell');
    const waiting = startCli([...video('x [run:20s]', '--id', bell), '--json'], env);
    await waiting.untilLine('stderr', /^task /);
    waiting.child.kill('SIGINT');
    const ended = await waiting.ended;
    seen.add(ended.code);
    expect([ended.code, replyOf(ended).error?.type]).toEqual([130, 'interrupted']);
    const status = await run(['status', bell]);
    expect(status.reply.data).toMatchObject({ workflow: { status: 'RUNNING' } });
  });

  test('no code of the registry is left out', () => {
    expect([...seen].sort()).toEqual([...Object.values(EXIT)].sort());
  });
});
