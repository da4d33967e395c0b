import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderImage } from '../../packages/sandbox/src/render-image';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliProcess, runJson } from './support/run-cli';

/** Whoever names the queue of another worker would pay for what this machine can never save. */
describe('a command whose artifact store is not the one of the worker', () => {
  let bench: CliBench;
  let env: NodeJS.ProcessEnv;
  let picture: string;
  let worker: CliProcess;
  const out = (): string => path.join(bench.dir, 'out');
  const paid = async (): Promise<number> => {
    const { creates, images } = await bench.sandbox.admin.counters();
    return creates.received + images.received;
  };

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 200 } });
    const other = {
      MEDIA_TASK_QUEUE: bench.server.uniqueId('other'),
      MEDIA_DATA_DIR: path.join(bench.dir, 'other-data'),
    };
    worker = await bench.startWorker(other);
    env = { ...bench.clientEnv, MEDIA_TASK_QUEUE: other.MEDIA_TASK_QUEUE };
    picture = path.join(bench.dir, 'cup.png');
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 64, height: 64, index: 0 } as const;
    await writeFile(picture, renderImage({ ...spec, inputs: [] }));
  });
  afterAll(() => bench.close());

  test.each([
    ['video', () => ['video', '--model', 'sketch-lite', '--prompt', 'a boat']],
    ['image', () => ['image', '--model', 'image-2', '--prompt', 'a map', '--size', '512x512']],
    ['edit', () => ['edit', '--model', 'image-2', '--prompt', 'join', '--image', picture]],
    [
      'video --detach with a file',
      () => [
        ...['video', '--model', 'motion-omni', '--prompt', 'turn', '--detach'],
        ...['--reference', `image=${picture}`],
      ],
    ],
  ])('%s: refused before the start, and nothing is paid', async (_, args) => {
    const id = bench.server.uniqueId('elsewhere');
    const run = await runJson([...args(), '--id', id, '--out', out()], env);
    expect([run.code, run.reply.error?.type]).toEqual([78, 'other_artifact_store']);
    expect(run.reply.error?.message).toContain(String(env['MEDIA_TASK_QUEUE']));
    expect(run.reply.error?.hint).toContain('MEDIA_ARTIFACTS');
    await expect(bench.server.client.workflow.getHandle(id).describe()).rejects.toThrow();
    expect(await paid()).toBe(0);
  });

  test('--detach without files needs no store; with the store of the worker the file is saved', async () => {
    const id = bench.server.uniqueId('detached');
    const args = ['video', '--model', 'sketch-lite', '--prompt', 'a boat', '--id', id];
    const detached = await runJson([...args, '--detach'], env);
    expect([detached.code, detached.reply.data?.['workflowId']]).toEqual([0, id]);
    const shared = { ...env, MEDIA_ARTIFACTS: path.join(bench.dir, 'other-data', 'artifacts') };
    const saved = await runJson([...args, '--out', out()], shared);
    expect([saved.code, saved.reply.data?.files]).toEqual([0, [path.join(out(), `${id}.mp4`)]]);
  });

  test('no worker has to be up for it: the binding of the queue names the store', async () => {
    worker.child.kill('SIGTERM');
    await worker.ended;
    const id = bench.server.uniqueId('later');
    const before = await paid();
    const args = ['edit', '--model', 'image-2', '--prompt', 'join', '--image', picture, '--detach'];
    const run = await runJson([...args, '--id', id], env);
    expect([run.code, run.reply.error?.type]).toEqual([78, 'other_artifact_store']);
    await expect(bench.server.client.workflow.getHandle(id).describe()).rejects.toThrow();
    expect(await paid()).toBe(before);
  });

  test('on a queue that no worker has served yet it is said that nobody knows', async () => {
    const first = { ...bench.clientEnv, MEDIA_TASK_QUEUE: bench.server.uniqueId('first') };
    const args = ['edit', '--model', 'image-2', '--prompt', 'join', '--image', picture, '--detach'];
    const run = await runJson([...args, '--id', bench.server.uniqueId('first-id')], first);
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('may be unable to find the files')]);
  });
});
