import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expectUnreadable, newEncryption } from '../support/encryption';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { type CodecServer, startCodecServer } from './support/codec-server';
import { type CliRun, runCli, runJson } from './support/run-cli';

const AUTH = 'Bearer of-the-codec-server';

describe('commands where a codec server encrypts payloads', () => {
  let stack: MediaStack;
  let codec: CodecServer;
  /** Without and with the codec server. */
  let bare: NodeJS.ProcessEnv;
  let env: NodeJS.ProcessEnv;
  let ids: Readonly<Record<'video' | 'campaign', string>>;
  let taskId: string;
  const video = (id: string) => [
    ...['video', '--model', 'sketch-lite', '--prompt', 'a hidden kite'],
    ...['--id', id, '--out', path.join(stack.dataDir, 'out')],
  ];

  beforeAll(async () => {
    // Commands of other tests search their namespace, and cannot read what this one encrypts.
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 500 } },
    });
    const { server, env: all } = stack;
    bare = Object.fromEntries(
      ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'MEDIA_TASK_QUEUE', 'MEDIA_DATA_DIR'].map((name) => [
        name,
        all[name],
      ]),
    );
    const encryption = newEncryption();
    codec = await startCodecServer(encryption, server.namespace, AUTH);
    env = {
      ...bare,
      TEMPORAL_CODEC_ENDPOINT: `${codec.origin}/{namespace}/`,
      TEMPORAL_CODEC_AUTH: AUTH,
    };
    const uniqueId = (name: string): string => server.uniqueId(name);
    ids = { video: uniqueId('hidden'), campaign: uniqueId('hidden-rows') };
    await stack.startWorker({ worker: { dataConverter: { payloadCodecs: [encryption] } } });
  });
  afterAll(async () => {
    await stack.stop();
    await codec.close();
  });

  it('a video: nothing of it can be read on the server, and everything here', async () => {
    // A proxy that is away: this machine is never asked for by one.
    const behindProxy = { ...env, HTTP_PROXY: 'http://127.0.0.1:9' };
    const { code, reply } = await runJson(video(ids.video), behindProxy);
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    taskId = (reply.data?.['video'] as { readonly taskId: string }).taskId;
    await expectUnreadable(stack.server, [ids.video]);
    const status = await runJson(['status', taskId], behindProxy);
    expect(status.reply.data).toMatchObject({ outcome: { outcome: 'completed' }, notes: [] });
    expect(new Set(codec.asked)).toEqual(
      new Set(['encode', 'decode'].map((what) => `/${stack.server.namespace}/${what}`)),
    );
  });

  it('a task id is found in encrypted histories too, by somebody who has no journal', async () => {
    const elsewhere = {
      MEDIA_DATA_DIR: path.join(stack.dataDir, 'elsewhere'),
      MEDIA_TASK_QUEUE: 'no-worker-here',
    };
    const { reply } = await runJson(['status', taskId], { ...env, ...elsewhere });
    expect(reply.data).toMatchObject({ foundBy: 'visibility', workflow: { workflowId: ids.video } });
    // That nobody knows it would be wrong: nobody could look.
    const refused = { ...env, ...elsewhere, TEMPORAL_CODEC_AUTH: 'another' };
    expect((await runJson(['status', taskId], refused)).reply.error?.type).toBe('codec_unreachable');
  });

  it('a campaign', async () => {
    const manifest = path.join(stack.dataDir, 'rows.jsonl');
    const row = (id: string) => JSON.stringify({ id, model: 'sketch-lite', prompt: 'a hidden boat' });
    await writeFile(manifest, `${row('a')}\n${row('b')}\n`);
    const more = ['--id', ids.campaign, '--out', path.join(stack.dataDir, 'report'), '--yes'];
    const { code, reply } = await runJson(['campaign', 'run', manifest, ...more], env);
    expect([code, reply.data?.['counts']]).toEqual([0, { completed: 2 }]);
    await expectUnreadable(stack.server, [ids.campaign]);
  });

  it('without it: lists and states say what the server itself knows', async () => {
    const list = await runJson(['campaign', 'list', '--limit', '500'], bare);
    const campaigns = list.reply.data?.['campaigns'] as readonly { readonly workflowId: string }[];
    expect(campaigns.map(({ workflowId }) => workflowId)).toContain(ids.campaign);
    const status = await runJson(['status', ids.video], bare);
    expect(status.code).toBe(0);
    expect(status.reply.data).toMatchObject({
      foundBy: 'workflow_id',
      workflow: { status: 'COMPLETED' },
      outcome: null,
      notes: expect.arrayContaining([expect.stringContaining('TEMPORAL_CODEC_ENDPOINT')]) as unknown,
    });
    // Nobody could look, so "not found" would be wrong.
    const unknown = await runJson(['status', 'task_that_nobody_knows'], bare);
    expect(unknown.reply.error?.type).toBe('payload_unreadable');
  });

  it('that refuses or is away: said so without what was set, and with the way back to what may be paid', async () => {
    const refused = await runCli(['status', ids.video, '--json'], {
      ...env,
      TEMPORAL_CODEC_AUTH: 'wrong-word',
    });
    expect(all(refused)).not.toContain('wrong-word');
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { type: 'codec_unreachable', message: expect.stringContaining('HTTP 401') as unknown },
    });
    const away = { ...env, TEMPORAL_CODEC_ENDPOINT: 'http://127.0.0.1:9/' };
    const { reply } = await runJson(video(stack.server.uniqueId('unwritten')), away);
    expect(reply.error?.type).toBe('codec_unreachable');
    // The same request again attaches to the one that is done; its result cannot be read.
    const unread = await runJson(video(ids.video), bare);
    expect(unread.reply).toMatchObject({ ok: false, error: { type: 'payload_unreadable' } });
  });

  it('that is no address, or one with a secret in it: refused, and shown nowhere', async () => {
    for (const address of ['ftp://h/', 'https://me:s3cret@h/', 'https://h/?t=s3cret', 's3cret']) {
      const named = { ...env, TEMPORAL_CODEC_ENDPOINT: address };
      const status = await runCli(['status', 'x', '--json'], named);
      expect(JSON.parse(status.stdout)).toMatchObject({ error: { type: 'configuration' } });
      expect(all(status) + all(await runCli(['config'], named))).not.toContain('s3cret');
    }
  });

  it('a worker of the command line refuses to start with it: it has no codec', async () => {
    const { code, stderr } = await runCli(['worker'], { ...stack.env, ...env });
    expect(code).toBe(78);
    expect(stderr).toContain('TEMPORAL_CODEC_ENDPOINT');
  });
});

const all = ({ stdout, stderr }: CliRun): string => stdout + stderr;
