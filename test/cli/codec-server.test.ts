import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Encryption, expectUnreadable } from '../support/encryption';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CodecServer, startCodecServer } from './support/codec-server';
import { runCli, runJson } from './support/run-cli';

const AUTH = 'Bearer of-the-codec-server';

describe('commands and a worker where a codec server encrypts payloads', () => {
  let bench: CliBench;
  let codec: CodecServer;
  let env: NodeJS.ProcessEnv;
  let ids: { readonly video: string; readonly campaign: string };
  let taskId: string;

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 500 } });
    const { namespace } = bench.server;
    codec = await startCodecServer(new Encryption(), namespace, AUTH);
    const named = { TEMPORAL_CODEC_ENDPOINT: `${codec.origin}/{namespace}/`, TEMPORAL_CODEC_AUTH: AUTH };
    env = { ...bench.clientEnv, ...named };
    ids = { video: bench.server.uniqueId('hidden'), campaign: bench.server.uniqueId('hidden-campaign') };
    await bench.startWorker(named);
  });
  afterAll(async () => {
    await bench.close();
    await codec.close();
  });

  it('a video: nothing of it can be read on the server, and everything here', async () => {
    const request = [
      '--model',
      'sketch-lite',
      '--prompt',
      'a hidden kite',
      '--out',
      path.join(bench.dir, 'out'),
    ];
    const { code, reply } = await runJson(['video', ...request, '--id', ids.video], env);
    expect([code, reply.data?.['outcome']]).toEqual([0, 'completed']);
    taskId = (reply.data?.['video'] as { readonly taskId: string }).taskId;
    await expectUnreadable(bench.server, [ids.video]);
    const status = await runJson(['status', taskId], env);
    expect(status.reply.data).toMatchObject({ outcome: { outcome: 'completed' }, notes: [] });
    expect(new Set(codec.asked)).toEqual(
      new Set(['encode', 'decode'].map((what) => `/${bench.server.namespace}/${what}`)),
    );
  });

  it('a task id is found in encrypted histories too, by somebody who has no journal', async () => {
    const elsewhere = {
      MEDIA_DATA_DIR: path.join(bench.dir, 'elsewhere'),
      MEDIA_TASK_QUEUE: 'no-worker-here',
    };
    const { reply } = await runJson(['status', taskId], { ...env, ...elsewhere });
    expect(reply.data).toMatchObject({ foundBy: 'visibility', workflow: { workflowId: ids.video } });
  });

  it('a campaign', async () => {
    const manifest = path.join(bench.dir, 'rows.jsonl');
    const row = (id: string) => JSON.stringify({ id, model: 'sketch-lite', prompt: 'a hidden boat' });
    await writeFile(manifest, `${row('a')}\n${row('b')}\n`);
    const more = ['--id', ids.campaign, '--out', path.join(bench.dir, 'report'), '--yes'];
    const { code, reply } = await runJson(['campaign', 'run', manifest, ...more], env);
    expect([code, reply.data?.['counts']]).toEqual([0, { completed: 2 }]);
    await expectUnreadable(bench.server, [ids.campaign]);
  });

  it('without it: lists and states say what the server itself knows', async () => {
    const list = await runJson(['campaign', 'list', '--limit', '500'], bench.clientEnv);
    const campaigns = list.reply.data?.['campaigns'] as readonly { readonly workflowId: string }[];
    expect(campaigns.map(({ workflowId }) => workflowId)).toContain(ids.campaign);
    const status = await runJson(['status', ids.video], bench.clientEnv);
    expect(status.code).toBe(0);
    expect(status.reply.data).toMatchObject({
      foundBy: 'workflow_id',
      workflow: { status: 'COMPLETED' },
      outcome: null,
      notes: expect.arrayContaining([expect.stringContaining('TEMPORAL_CODEC_ENDPOINT')]) as unknown,
    });
    const unknown = await runJson(['status', 'task_that_nobody_knows'], bench.clientEnv);
    expect(unknown.reply.error?.type).toBe('not_found');
  });

  it('that refuses, is away or is no address: said so, without what was set', async () => {
    const refused = await runCli(['status', ids.video, '--json'], {
      ...env,
      TEMPORAL_CODEC_AUTH: 'wrong-word',
    });
    expect(refused.stdout + refused.stderr).not.toContain('wrong-word');
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { type: 'codec_unreachable', message: expect.stringContaining('HTTP 401') as unknown },
    });
    const request = ['--model', 'sketch-lite', '--prompt', 'x', '--id', bench.server.uniqueId('unwritten')];
    const away = { ...env, TEMPORAL_CODEC_ENDPOINT: 'http://127.0.0.1:9/' };
    const { reply } = await runJson(['video', ...request], away);
    expect(reply.error?.type).toBe('codec_unreachable');
    const odd = await runJson(['status', 'x'], { ...env, TEMPORAL_CODEC_ENDPOINT: 'ftp://me:secret@h/' });
    expect(odd.reply.error?.type).toBe('configuration');
    expect(odd.stdout).not.toContain('secret');
  });
});
