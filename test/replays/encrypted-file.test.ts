import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { payloadsIn } from '../../packages/replay/src/decode-payloads';
import { historyFromJson, historyToJson } from '../../packages/replay/src/history-codec';
import { type Timeline } from '../../packages/replay/src/timeline/timeline';
import { type CodecServer, startCodecServer } from '../cli/support/codec-server';
import { runCli, runJson } from '../cli/support/run-cli';
import { goldenHistory } from '../replay/golden-histories';
import { newEncryption } from '../support/encryption';

const AUTH = 'Bearer of-the-codec-server';

/** A history file as a server exports it whose workers encrypt. */
describe('replay of an encrypted history file', () => {
  let dir: string;
  let codec: CodecServer;
  let file: string;
  /** With the codec server, as the configuration names it. */
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-encrypted-'));
    const encryption = newEncryption();
    codec = await startCodecServer(encryption, 'default', AUTH);
    env = { TEMPORAL_CODEC_ENDPOINT: `${codec.origin}/{namespace}/`, TEMPORAL_CODEC_AUTH: AUTH };
    const history = historyFromJson(goldenHistory('generateVideo.failed-moderation.v1.json').json);
    for (const payload of payloadsIn(history))
      Object.assign(payload, (await encryption.encode([payload]))[0]);
    file = path.join(dir, 'hidden.json');
    await writeFile(file, JSON.stringify(historyToJson(history)));
    expect(await readFile(file, 'utf8')).not.toContain(Buffer.from('json/plain').toString('base64'));
  });
  afterAll(async () => {
    await codec.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('with the codec server: told and replayed as if it were not', async () => {
    const { code, reply } = await runJson(['replay', file], env);
    const [target] = reply.data?.['targets'] as readonly [
      { readonly timeline: Timeline; readonly runs: readonly { readonly verdict: object }[] },
    ];
    expect([code, target.timeline.outcome, target.runs[0]?.verdict]).toMatchObject([
      0,
      'failed',
      { verdict: 'identical' },
    ]);
    expect(new Set(codec.asked)).toEqual(new Set(['/default/decode']));
    const redacted = path.join(dir, 'redacted.json');
    expect(await runJson(['history', 'export', file, redacted, '--redact'], env)).toMatchObject({ code: 0 });
    // What was written is readable by everybody, and says nothing.
    expect(await runJson(['replay', redacted])).toMatchObject({ code: 0 });
  });

  it('an export says that it is decoded, and leaves it encrypted where that is asked', async () => {
    const plain = path.join(dir, 'plain.json');
    const exported = await runCli(['history', 'export', file, plain], env);
    expect(exported.stderr).toContain('anyone with the file can read them. Use --keep-encrypted');
    expect(await readFile(plain, 'utf8')).toContain(Buffer.from('json/plain').toString('base64'));
    const kept = path.join(dir, 'kept.json');
    // Needs no codec server: nothing is decoded.
    const run = await runCli(['history', 'export', file, kept, '--keep-encrypted']);
    expect([run.code, run.stderr]).toEqual([0, expect.not.stringContaining('decoded')]);
    expect(await readFile(kept, 'utf8')).not.toContain(Buffer.from('json/plain').toString('base64'));
    expect(await runJson(['replay', kept], env)).toMatchObject({ code: 0 });
    const both = await runJson(['history', 'export', file, kept, '--redact', '--keep-encrypted']);
    expect([both.code, both.reply.error?.type]).toEqual([2, 'usage']);
  });

  it('an export into a folder that is not there cannot be written, and so cannot a page', async () => {
    const nowhere = path.join(dir, 'nowhere', 'x.json');
    for (const args of [
      ['history', 'export', file, nowhere],
      ['replay', file, '--html', path.join(dir, 'nowhere', 'x.html')],
    ]) {
      const { code, reply } = await runJson(args, env);
      expect([code, reply.error?.type]).toEqual([73, 'cannot_write']);
      expect(reply.error?.hint).toBe('Create its folder, or pass another file name.');
    }
  });

  it('without it: said so, with the variable that is missing', async () => {
    const { code, stdout, stderr } = await runCli(['replay', file]);
    expect(code).toBe(69);
    expect(stdout).toContain('unreadable');
    expect(stdout).toContain('binary/encrypted');
    expect(stderr).toContain('TEMPORAL_CODEC_ENDPOINT');
    expect(await runJson(['replay', file, '--whatif'])).toMatchObject({
      code: 69,
      reply: { error: { type: 'payload_unreadable' } },
    });
  });

  it.each([
    ['that refuses', () => ({ ...env, TEMPORAL_CODEC_AUTH: 'wrong-word' }), 'codec_unreachable'],
    ['that is away', () => ({ ...env, TEMPORAL_CODEC_ENDPOINT: 'http://127.0.0.1:9/' }), 'codec_unreachable'],
  ] as const)('with one %s: said so, without what was set', async (_what, own, type) => {
    const run = await runJson(['replay', file], own());
    expect([run.code, run.reply.error?.type]).toEqual([69, type]);
    expect(`${run.stdout}${run.stderr}`).not.toContain('wrong-word');
  });

  it('with one that has another key: the file is unreadable', async () => {
    const other = await startCodecServer(newEncryption('second'), 'default', AUTH);
    const named = { ...env, TEMPORAL_CODEC_ENDPOINT: `${other.origin}/{namespace}/` };
    const { code, reply } = await runJson(['replay', file], named);
    expect([code, reply.error]).toMatchObject([
      69,
      {
        type: 'codec_unreachable',
        message: expect.stringContaining('This process does not have the payload key "first".') as unknown,
      },
    ]);
    await other.close();
  });
});
