import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeDevState } from '../../packages/cli/src/shared/dev-state';
import { sandboxModels } from '../../packages/sandbox/src/models';
import { processIdentity } from '../../src/stores/files/this-machine';
import { runCli, runJson } from './support/run-cli';

describe('temporal-media models', () => {
  let dir: string;
  let env: NodeJS.ProcessEnv;
  let server: Server;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-models-'));
    const file = path.join(dir, 'models.json');
    await writeFile(file, JSON.stringify(sandboxModels));
    env = { MEDIA_MODELS: file, MEDIA_DATA_DIR: path.join(dir, 'data') };
    server = createServer((_request, response) => response.end(JSON.stringify(sandboxModels)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    server.close();
    await rm(dir, { recursive: true, force: true });
  });

  test('lists every model with what it allows and costs; JSON has the entries as configured', async () => {
    const [text, json] = await Promise.all([runCli(['models'], env), runJson(['models', 'ls'], env)]);
    expect(text.code).toBe(0);
    const rows = text.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(['ID', 'KIND', 'DURATIONS', 'RESOLUTIONS / SIZES', 'PRICE']);
    expect(rows.slice(1).map(([id]) => id)).toEqual(sandboxModels.models.map(({ id }) => id));
    expect(rows).toContainEqual(['cine-1', 'video', '2, 4, 8', '480p, 720p', '0.05 USD per second']);
    expect(rows).toContainEqual(['open-canvas', 'video', 'any', 'any', 'unknown']);
    expect(json.reply.data).toMatchObject({
      models: sandboxModels.models.map((model) => ({ id: model.id, kind: model.kind })),
      source: { origin: 'environment', location: env['MEDIA_MODELS'], unknownModels: 'refuse' },
    });
  });

  test('[C1.5] show: references, polling, every price; a model without a price is unknown', async () => {
    const [omni, image, plain] = await Promise.all([
      runJson(['models', 'show', 'motion-omni'], env),
      runCli(['models', 'show', 'image-2 4K'], env),
      runCli(['models', 'show', 'sketch-lite'], env),
    ]);
    expect(omni.reply.data).toMatchObject({
      model: { id: 'motion-omni' },
      references: [
        { field: 'reference_images', form: 'data_url', option: '--reference image=picture.png' },
        { form: 'url', option: '--reference video=https://example.com/clip.mp4' },
        { form: 'base64' },
      ],
      polling: { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 3, isDefault: false },
    });
    expect(image.stdout).toContain('0.24 USD for size 4096x4096');
    expect(image.stdout).toContain("temporal-media image --model 'image-2 4K' --prompt");
    expect(plain.stdout).toMatch(/^price +unknown$/m);
    expect(plain.stdout).toMatch(/^request +times out after 60 s \(default\)$/m);
    expect(image.stdout).toMatch(/^request +times out after 240 s \(default\)$/m);
  });

  test('the example command of every model is one that the command line takes', async () => {
    for (const { id } of sandboxModels.models.slice(0, 3)) {
      const { reply } = await runJson(['models', 'show', id], env);
      const example = reply.data?.['example'] as string;
      const [, ...words] = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      );
      expect((await runJson([...words, '--dry-run'], env)).reply).toMatchObject({ ok: true });
    }
  });

  test('an unknown id: bad_input with the names that are near', async () => {
    const { code, reply } = await runJson(['models', 'show', 'cine1'], env);
    expect([code, reply.error?.type]).toEqual([65, 'bad_input']);
    expect(reply.error?.hint).toBe('Did you mean: cine-1, cine-1-pro?');
  });

  test('no configuration is said plainly and is no error', async () => {
    const own = { MEDIA_DATA_DIR: path.join(dir, 'nothing') };
    const { code, reply, stderr } = await runJson(['models'], own);
    expect(code).toBe(0);
    expect(reply.data).toEqual({
      models: [],
      source: {
        origin: 'none',
        account: 'default',
        location: null,
        fingerprint: null,
        unknownModels: 'allow',
      },
    });
    expect(stderr).toContain('Any model is accepted, but only with safe fields');
  });

  test('[C5.4b] what cannot be read is a configuration error that shows no part of a signed address', async () => {
    const { port } = server.address() as AddressInfo;
    const gone = await runJson(['models'], { ...env, MEDIA_MODELS: path.join(dir, 'gone.json') });
    expect([gone.code, gone.reply.error?.type]).toEqual([78, 'models_unavailable']);
    const signed = await runJson(['models'], {
      ...env,
      MEDIA_MODELS: `http://127.0.0.1:${port}/m?sig=s3cret`,
    });
    expect(signed.reply.data).toMatchObject({ source: { location: `http://127.0.0.1:${port}/m` } });
    expect(signed.stdout + signed.stderr).not.toContain('s3cret');
  });

  test('without MEDIA_MODELS the sandbox of the running dev is used, unless commands go elsewhere', async () => {
    const dataDir = path.join(dir, 'dev');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const modelsUrl = `${url}/models.json`;
    await mkdir(dataDir);
    await writeDevState(dataDir, {
      v: 1,
      pid: process.pid,
      identity: await processIdentity(process.pid),
      startedAt: new Date().toISOString(),
      address: '127.0.0.1:7233',
      namespace: 'default',
      uiUrl: null,
      retention: '24h',
      taskQueue: 'temporal-media',
      sandbox: { url, mediaUrl: url, modelsUrl, adminUrl: url },
      pids: {},
    });
    const own = { MEDIA_DATA_DIR: dataDir };
    const sources = await Promise.all(
      [own, { ...own, MEDIA_TASK_QUEUE: 'mine' }, { ...own, TEMPORAL_ADDRESS: 'elsewhere:7233' }].map(
        async (one) => (await runJson(['models'], one)).reply.data?.['source'],
      ),
    );
    expect(sources).toMatchObject([
      { origin: 'dev', location: modelsUrl },
      { origin: 'none' },
      { origin: 'none' },
    ]);
  });
});
