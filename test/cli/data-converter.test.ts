import path from 'node:path';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { runCli, runJson, startCli, type CliProcess } from './support/run-cli';

const MODULES = path.join(__dirname, 'support', 'converters');

describe("commands and a worker with a user's data converter", () => {
  let stack: MediaStack;
  const workers: CliProcess[] = [];
  const video = (id: string, prompt: string) => [
    ...['video', '--model', 'sketch-lite', '--prompt', prompt],
    ...['--id', id, '--out', path.join(stack.dataDir, 'out')],
  ];
  /** Starts a worker with this module on a queue of its own, and buys a video. */
  const bought = async (module: string, prompt: string) => {
    const id = stack.server.uniqueId('film');
    const bare = {
      ...stack.env,
      MEDIA_TASK_QUEUE: stack.server.uniqueId('own'),
      MEDIA_JOURNAL: path.join(stack.dataDir, id),
    };
    const env = { ...bare, MEDIA_DATA_CONVERTER: path.join(MODULES, module) };
    const worker = startCli(['worker'], env);
    workers.push(worker);
    await worker.untilLine('stderr', /^Ready: task queue/);
    const { code, reply } = await runJson(video(id, prompt), env);
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    return { id, env, bare };
  };

  beforeAll(async () => {
    // Commands of other tests list what is in their namespace, and cannot read this.
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 300 } },
    });
  });
  afterAll(async () => {
    for (const { child } of workers) child.kill('SIGTERM');
    await Promise.all(workers.map(({ ended }) => ended));
    await stack.stop();
  });

  it('a codec, in a CommonJS or an ES module', async () => {
    const { id, env, bare } = await bought('codec.js', 'a reversed kite');
    const history = await stack.server.client.workflow.getHandle(id).fetchHistory();
    expect(JSON.stringify(history)).not.toContain(
      Buffer.from('a reversed kite').toString('base64').slice(0, 12),
    );
    for (const module of ['codec.js', 'codec.mjs']) {
      const how = { ...env, MEDIA_DATA_CONVERTER: path.join(MODULES, module) };
      const status = await runJson(['status', id], how);
      expect(status.reply.data).toMatchObject({ outcome: { outcome: 'completed' }, notes: [] });
      const replayed = await runCli(['replay', id], how);
      expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining('accepted as task')]);
    }
    const here = await runCli(
      ['status', id, '--json'],
      { ...env, MEDIA_DATA_CONVERTER: 'codec.js' },
      MODULES,
    );
    expect(JSON.parse(here.stdout)).toMatchObject({ data: { outcome: { outcome: 'completed' } } });
    const unbought = await runJson(video(`${id}-2`, 'an unread kite'), bare);
    expect([unbought.code, unbought.reply.error?.type]).toEqual([69, 'payload_unreadable']);
    expect(await accepted(stack, 'an unread kite')).toBe(0);
    const both = { ...env, TEMPORAL_CODEC_ENDPOINT: 'http://127.0.0.1:9' };
    const refused = await runJson(['status', id], both);
    expect([refused.code, refused.reply.error?.message]).toEqual([
      78,
      expect.stringMatching(/TEMPORAL_CODEC_ENDPOINT.*payloadCodecs/),
    ]);
  });

  it('a payload converter, also in the bundle of the worker and of a replay', async () => {
    const { id, env } = await bought('own-json.js', 'a kite in other words');
    const status = await runJson(['status', id], env);
    expect(status.reply.data).toMatchObject({ outcome: { outcome: 'completed' }, notes: [] });
    const workflows = path.join(__dirname, '..', 'worker', 'users', 'golden-workflows.js');
    const replayed = await runJson(['replay', id, '--no-timeline', '--workflows-path', workflows], env);
    expect([replayed.code, JSON.stringify(replayed.reply)]).toEqual([
      0,
      expect.stringContaining('"identical"'),
    ]);
    const shipped = await runJson(['replay', id], env);
    expect([shipped.code, shipped.reply.error?.type]).toEqual([69, 'payload_unreadable']);
  });

  it('a driver that throws is a storage that fails', async () => {
    const env = { ...stack.env, MEDIA_DATA_CONVERTER: path.join(MODULES, 'throwing-driver.js') };
    const { code, reply } = await runJson(video(stack.server.uniqueId('full'), 'a kite on a full disk'), env);
    expect([code, reply.error]).toEqual([
      69,
      expect.objectContaining({
        type: 'storage_unreachable',
        message: 'The external storage "own-disk" failed: the disk is full',
      }),
    ]);
    expect(await accepted(stack, 'a kite on a full disk')).toBe(0);
  });

  it('a threshold without MEDIA_EXTERNAL_STORAGE is refused', async () => {
    for (const module of ['throwing-driver.js', undefined]) {
      const converter = module === undefined ? {} : { MEDIA_DATA_CONVERTER: path.join(MODULES, module) };
      const env = { ...stack.env, ...converter, MEDIA_EXTERNAL_STORAGE_THRESHOLD: '0' };
      const { code, reply } = await runJson(['status', 'x'], env);
      expect([code, reply.error?.message]).toEqual([
        78,
        expect.stringMatching(/EXTERNAL_STORAGE_THRESHOLD.*needs MEDIA_EXTERNAL_STORAGE/),
      ]);
    }
  });

  it('a module without a converter is refused', async () => {
    const env = { ...stack.env, MEDIA_DATA_CONVERTER: path.join(MODULES, 'payload-converter.js') };
    const { code, reply } = await runJson(['status', 'x'], env);
    expect([code, reply.error?.message]).toEqual([78, expect.stringContaining('must export')]);
  });
});
