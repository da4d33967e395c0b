import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MEDIA_VARIABLES } from '../../packages/cli/src/config/variables';
import { writeDevState } from '../../packages/cli/src/shared/dev-state';
import { processIdentity } from '../../src/stores/files/this-machine';
import { readSources } from '../support/sources';
import { type CliRun, type CliReply, runCli, runJson } from './support/run-cli';

interface Value {
  readonly name: string;
  readonly value: string | null;
  readonly origin: string;
  readonly secret: boolean;
  readonly problem?: string;
  readonly unknown?: boolean;
  readonly nearest?: string | null;
}

describe('temporal-media config show', () => {
  let dir: string;
  const show = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
    const run = await runJson(['config', 'show', ...args], { MEDIA_DATA_DIR: dir, ...env });
    return { ...run, value: (name: string) => valueOf(run, name) };
  };
  const valueOf = ({ reply }: CliRun & { readonly reply: CliReply }, name: string): Value | undefined =>
    (reply.data?.['values'] as readonly Value[]).find((one) => one.name === name);

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-config-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('knows every MEDIA_* variable that the code reads', () => {
    const code = readSources()
      .filter((source) => !source.path.startsWith('packages/cli/src/config'))
      .map(({ text }) => text)
      .join('\n');
    const read = [...code.matchAll(/(?:env\[|text\()'(MEDIA_[A-Z_]+)'/g)].map(([, name]) => name);
    expect(MEDIA_VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining([...new Set(read)]));
    for (const { name } of MEDIA_VARIABLES) expect(code).toContain(name);
  });

  test('a flag, the environment and the defaults', async () => {
    const data = path.join(dir, 'by-flag');
    const run = await show({ MEDIA_BASE_URL: 'https://service.example/v1' }, '--data-dir', data);
    expect(run.code).toBe(0);
    expect(run.value('MEDIA_DATA_DIR')).toMatchObject({ value: data, origin: 'flag', secret: false });
    expect(run.value('MEDIA_JOURNAL')).toMatchObject({
      value: path.join(data, 'journal'),
      origin: 'default',
    });
    expect(run.value('MEDIA_BASE_URL')).toMatchObject({ origin: 'environment' });
    expect(run.value('MEDIA_MODELS')).toMatchObject({ value: null, origin: 'default' });
    expect(run.value('TEMPORAL_ADDRESS')).toMatchObject({ value: 'localhost:7233', origin: 'default' });
  });

  test('[C5.4a] [C5.4b] no part of a secret is shown, in either format, also where it has the wrong name', async () => {
    const key = 'k3y-0123456789abcdef-0123456789a';
    const env = {
      MEDIA_API_KEY: key,
      MEDIA_APIKEY: key,
      MEDIA_BASE_URL: `https://user:${key}@service.example/p?sig=${key}`,
      MEDIA_MODELS: `https://models.example/m.json?sig=${key}`,
      MEDIA_ALLOWED_MEDIA_ORIGINS: `https://u:${key}@a.example,https://b.example?x=${key}`,
      TEMPORAL_API_KEY: key,
      TEMPORAL_TLS_CLIENT_KEY_DATA: key,
      TEMPORAL_CODEC_AUTH: key,
      TEMPORAL_CODEC_ENDPOINT: ` https://me:${key}/x@codec.example`,
      TEMPORAL_GRPC_META_AUTHORIZATION: key,
      TEMPORAL_APIKEY: key,
    };
    const [json, text] = await Promise.all([show(env), runCli(['config'], { MEDIA_DATA_DIR: dir, ...env })]);
    for (const { stdout, stderr } of [json, text])
      for (const part of [key, key.slice(0, 8), key.slice(-8)]) expect(stdout + stderr).not.toContain(part);
    for (const name of [
      'MEDIA_API_KEY',
      'TEMPORAL_API_KEY',
      'TEMPORAL_CODEC_AUTH',
      'TEMPORAL_TLS_CLIENT_KEY_DATA',
    ])
      expect(json.value(name)).toMatchObject({ value: `set (${key.length} characters)`, secret: true });
    expect(json.value('MEDIA_MODELS')).toMatchObject({ value: 'https://models.example/m.json' });
    expect(json.value('MEDIA_APIKEY')).toMatchObject({
      unknown: true,
      nearest: 'MEDIA_API_KEY',
      secret: true,
    });
    expect(json.value('TEMPORAL_APIKEY')).toMatchObject({ unknown: true, nearest: 'TEMPORAL_API_KEY' });
    expect(text.stdout).toMatch(/^MEDIA_API_KEY +set \(32 characters\) +environment$/m);
  });

  test('broken values: all are printed, each with its problem, then exit code 78', async () => {
    const env = {
      MEDIA_BASE_URL: 'service',
      MEDIA_UNKNOWN_MODELS: 'perhaps',
      MEDIA_CREATE_POLICY: '{"on502":"hope"}',
      MEDIA_MAX_SPEND: 'much',
      MEDIA_API_KEY_FILE: path.join(dir, 'no-key'),
    };
    const run = await show(env);
    expect([run.code, run.reply.error?.type]).toEqual([78, 'configuration']);
    for (const name of Object.keys(env)) {
      expect(run.value(name)?.problem).toEqual(expect.any(String));
      expect(run.reply.error?.message).toContain(name);
    }
    expect(run.value('TEMPORAL_NAMESPACE')).toMatchObject({ value: 'default' });
    const text = await runCli(['config', 'show'], { MEDIA_DATA_DIR: dir, ...env });
    expect(text.code).toBe(78);
    expect(text.stdout).toMatch(/^MEDIA_UNKNOWN_MODELS +perhaps +environment +! must be allow or refuse\.$/m);
    expect(text.stdout).toContain('TEMPORAL_NAMESPACE');
  });

  test('a typo is shown with the nearest name and is no failure', async () => {
    const run = await show({ MEDIA_BASEURL: 'https://service.example' });
    expect(run.code).toBe(0);
    expect(run.value('MEDIA_BASEURL')).toMatchObject({ unknown: true, nearest: 'MEDIA_BASE_URL' });
  });

  test("[C5.4a] Temporal's profile file; a broken one is a problem that quotes nothing of it", async () => {
    const file = path.join(dir, 'temporal.toml');
    await writeFile(
      file,
      '[profile.default]\naddress = "cloud.example:7233"\nnamespace = "n"\napi_key = "s3cret"\n',
    );
    const good = await show({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_NAMESPACE: 'other' });
    expect(good.value('TEMPORAL_ADDRESS')).toMatchObject({ value: 'cloud.example:7233', origin: 'file' });
    expect(good.value('TEMPORAL_NAMESPACE')).toMatchObject({ value: 'other', origin: 'environment' });
    expect(good.value('TEMPORAL_API_KEY')).toMatchObject({ value: 'set (6 characters)', origin: 'file' });
    const broken = path.join(dir, 'broken.toml');
    await writeFile(broken, '[profile.default]\napi_key = "s3cret\n');
    const bad = await show({ TEMPORAL_CONFIG_FILE: broken });
    expect(bad.code).toBe(78);
    expect(bad.value('TEMPORAL_CONFIG_FILE')?.problem).toEqual(expect.any(String));
    expect(good.stdout + good.stderr + bad.stdout + bad.stderr).not.toContain('s3cret');
    const missing = await show({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'staging' });
    expect(missing.value('TEMPORAL_PROFILE')?.problem).toContain('staging');
  });

  test('a running dev of the data directory', async () => {
    const data = path.join(dir, 'dev');
    await mkdir(data);
    const url = 'http://127.0.0.1:4000';
    await writeDevState(data, {
      v: 1,
      pid: process.pid,
      identity: await processIdentity(process.pid),
      startedAt: new Date().toISOString(),
      address: '127.0.0.1:7400',
      namespace: 'default',
      uiUrl: null,
      retention: '24h',
      taskQueue: 'temporal-media',
      sandbox: { url, mediaUrl: 'http://127.0.0.1:4001', modelsUrl: `${url}/models.json`, adminUrl: url },
      pids: {},
    });
    const run = await show({ MEDIA_DATA_DIR: data, TEMPORAL_API_KEY: 'unused' });
    expect(run.code).toBe(0);
    expect(run.value('MEDIA_BASE_URL')).toMatchObject({ value: url, origin: 'dev' });
    expect(run.value('MEDIA_MODELS')).toMatchObject({ value: `${url}/models.json`, origin: 'dev' });
    expect(run.value('MEDIA_API_KEY')).toMatchObject({ origin: 'dev', secret: true });
    expect(run.value('TEMPORAL_ADDRESS')).toMatchObject({ value: '127.0.0.1:7400', origin: 'dev' });
    expect(run.value('TEMPORAL_API_KEY')).toMatchObject({
      note: expect.stringContaining('not used') as string,
    });
  });
});
