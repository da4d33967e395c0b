import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import OpenAI, { toFile } from 'openai';
import { sandboxModels } from '../../packages/sandbox/src';
import { jsonOf, rawCall } from '../testing/sandbox/raw-call';
import { runSandbox, type RunningSandbox } from '../testing/sandbox/running-sandbox';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The official client, written by others against the published API: the sandbox must look like that to it. */
describe('the openai client against the sandbox in compat mode', () => {
  let sandbox: RunningSandbox;
  let client: OpenAI;
  beforeAll(async () => {
    sandbox = await runSandbox({ mode: 'compat', forbiddenKeys: ['guest-key'] });
    client = clientWith('sandbox-key');
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const clientWith = (apiKey: string): OpenAI =>
    new OpenAI({ apiKey, baseURL: `${sandbox.url}/v1`, maxRetries: 0, logLevel: 'off' });
  const bytesOf = async (reply: Response): Promise<Buffer> => Buffer.from(await reply.arrayBuffer());
  const png = (byte: number) => toFile(Buffer.alloc(64, byte), `${byte}.png`, { type: 'image/png' });

  // The first redirects to another origin, the second answers itself.
  test.each(['cine-1', 'cine-1-pro'] as const)(
    'creates, polls and downloads a video of %s',
    async (model) => {
      const created = await client.videos.create({
        model,
        prompt: 'a cat on a roof [queue:60s] [run:60s]',
        seconds: '4',
        size: '1280x720',
      });
      expect(created).toMatchObject({ object: 'video', model, seconds: '4', size: '1280x720', error: null });
      expect([created.status, created.progress, created.completed_at]).toEqual(['queued', 0, null]);
      await sandbox.admin.patchTask(created.id, { createdAt: Date.now() - 90_000 });
      expect((await client.videos.retrieve(created.id)).status).toBe('in_progress');
      await sandbox.admin.patchTask(created.id, { createdAt: Date.now() - 150_000 });
      const done = await client.videos.retrieve(created.id);
      expect([done.status, done.progress]).toEqual(['completed', 100]);
      expect(done.expires_at).toBeGreaterThan(done.completed_at ?? Infinity);
      const reply = await client.videos.downloadContent(created.id);
      expect(reply.headers.get('content-type')).toBe('video/mp4');
      const bytes = await bytesOf(reply);
      expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
      expect(reply.headers.get('etag')).toBe(`"${sha256(bytes).slice(0, 32)}"`);
      const { creates, operations } = await sandbox.admin.counters();
      expect(creates).toEqual({ received: 1, accepted: 1 });
      expect(operations.media.rejected).toBe(0);
      const violations = (await sandbox.admin.requests()).flatMap((request) => request.violations);
      expect(violations).toEqual([]);
    },
  );

  test('a reference file travels in its create; an object does too', async () => {
    const base = { model: 'cine-1-pro', prompt: 'x' };
    await client.videos.create({ ...base, input_reference: await png(1) });
    await client.videos.create({ ...base, input_reference: { image_url: 'https://a.example/x.png' } });
    const [file, object] = await sandbox.admin.requests({ operation: 'create' });
    expect(file?.parts?.find((part) => part.kind === 'file')).toMatchObject({
      name: 'input_reference',
      sha256: sha256(Buffer.alloc(64, 1)),
    });
    expect(object?.parts?.map((part) => part.name)).toContain('input_reference[image_url]');
    expect([file?.violations, object?.violations]).toEqual([[], []]);
  });

  test('every video model takes a create; the published dialect keeps to the published words', async () => {
    for (const model of sandboxModels.models.filter((one) => one.kind === 'video')) {
      const { id } = await client.videos.create({ model: model.id, prompt: 'x' });
      const { status, error } = await client.videos.retrieve(id);
      expect(error).toBeNull();
      if (model.id.startsWith('cine')) expect(status).toBe('completed');
    }
  });

  test('a record has exactly the keys of the published type, in the version of the client that is installed', async () => {
    const types = readFileSync(
      require.resolve('openai/resources/videos').replace(/\.m?js$/, '.d.ts'),
      'utf8',
    );
    const body = /export interface Video \{$([^]*?)^\}/m.exec(types)?.[1] ?? '';
    const published = [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name]) => name);
    expect(published).toContain('remixed_from_video_id');
    const minimal = await runSandbox({ mode: 'compat', records: 'minimal' });
    const record = await minimal.poll(await minimal.newTask());
    await minimal.close();
    expect(Object.keys(record).sort()).toEqual(published.sort());
  });

  test('of the published variants of the content there is the video only', async () => {
    const { id } = await client.videos.create({ model: 'cine-1-pro', prompt: 'x' });
    expect((await client.videos.downloadContent(id, { variant: 'video' })).status).toBe(200);
    const thumbnail = client.videos.downloadContent(id, { variant: 'thumbnail' });
    await expect(thumbnail).rejects.toMatchObject({ constructor: OpenAI.BadRequestError, param: 'variant' });
  });

  test('a failed task carries code and message, its content is a 422', async () => {
    const { id } = await client.videos.create({ model: 'cine-1', prompt: 'x [fail:moderation]' });
    const { status, error } = await client.videos.retrieve(id);
    expect([status, error?.code]).toEqual(['failed', 'moderation_blocked']);
    await expect(client.videos.downloadContent(id)).rejects.toThrow(OpenAI.UnprocessableEntityError);
  });

  test('generates images as URLs and as Base64', async () => {
    const base = { model: 'image-2', prompt: 'a boat', size: '512x512', n: 2 } as const;
    const urls = await client.images.generate({ ...base, response_format: 'url', user: 'me' });
    const inline = await client.images.generate({ ...base, response_format: 'b64_json' });
    expect([urls.data?.length, inline.data?.length]).toEqual([2, 2]);
    expect(urls.usage).toMatchObject({ output_tokens: 2000 });
    for (const [index, { url = '' }] of (urls.data ?? []).entries()) {
      const bytes = await bytesOf(await fetch(url));
      expect(bytes.subarray(1, 4).toString()).toBe('PNG');
      expect(inline.data?.[index]?.b64_json).toBe(bytes.toString('base64'));
    }
  });

  test('edits one image, and several in their order', async () => {
    const base = { model: 'image-2', prompt: 'at night', response_format: 'b64_json' } as const;
    const one = await client.images.edit({ ...base, image: await png(1), mask: await png(9) });
    const two = await client.images.edit({ ...base, image: [await png(2), await png(1)] });
    const pictures = [one, two].map(({ data }) => Buffer.from(data?.[0]?.b64_json ?? '', 'base64'));
    expect(pictures.map((bytes) => bytes.subarray(1, 4).toString())).toEqual(['PNG', 'PNG']);
    const edits = await sandbox.admin.requests({ operation: 'edit' });
    const files = edits.map(({ parts = [] }) => parts.filter((part) => part.kind === 'file'));
    expect(files.map((list) => list.map(({ name, sha256: hash }) => [name, hash]))).toEqual([
      expect.arrayContaining([
        ['image', sha256(Buffer.alloc(64, 1))],
        ['mask', sha256(Buffer.alloc(64, 9))],
      ]),
      [
        ['image[]', sha256(Buffer.alloc(64, 2))],
        ['image[]', sha256(Buffer.alloc(64, 1))],
      ],
    ]);
  });

  test.each<[string, (api: OpenAI) => Promise<unknown>]>([
    ['a create', (api) => api.videos.create({ model: 'cine-1', prompt: 'x' })],
    ['a poll', (api) => api.videos.retrieve('video_0123456789')],
    ['a download', (api) => api.videos.downloadContent('video_0123456789')],
    ['a generation', (api) => api.images.generate({ model: 'image-2', prompt: 'x' })],
  ])('error classes of %s', async (_name, call) => {
    await expect(call(clientWith('wrong'))).rejects.toMatchObject({
      constructor: OpenAI.AuthenticationError,
      code: 'invalid_api_key',
    });
    await expect(call(clientWith('guest-key'))).rejects.toThrow(OpenAI.PermissionDeniedError);
    for (const operation of ['create', 'poll', 'content', 'generate'] as const)
      await sandbox.admin.addFaults([{ operation, action: { type: 'status', status: 429 } }]);
    await expect(call(client)).rejects.toMatchObject({ constructor: OpenAI.RateLimitError, status: 429 });
  });

  test('a 400 names the field, a task that does not exist is a 404', async () => {
    const bad = client.videos.create({ model: 'cine-1', prompt: 'x', seconds: '12' });
    await expect(bad).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      param: 'seconds',
      code: 'invalid_duration',
    });
    await expect(client.videos.retrieve('video_0123456789')).rejects.toThrow(OpenAI.NotFoundError);
    expect((await sandbox.admin.counters()).creates.accepted).toBe(0);
  });

  test('a flat body and a list of details still make the right class', async () => {
    for (const model of ['atlas-long', 'motion-omni']) {
      const bad = client.videos.create({ model, prompt: 'x', seconds: '4' });
      await expect(bad).rejects.toMatchObject({ constructor: OpenAI.BadRequestError, status: 400 });
    }
  });

  test('strict mode refuses its creates: the published client does not speak the contract', async () => {
    const strict = await runSandbox();
    const api = new OpenAI({ apiKey: 'sandbox-key', baseURL: `${strict.url}/v1`, maxRetries: 0 });
    const refused = api.videos.create({ model: 'cine-1', prompt: 'x', seconds: '4' });
    await expect(refused).rejects.toThrow(OpenAI.BadRequestError);
    expect(jsonOf(await rawCall(`${strict.adminUrl}/counters`))).toMatchObject({ creates: { accepted: 0 } });
    await strict.close();
  });
});
