import fc from 'fast-check';
import { multipartBody, type TestPart } from './multipart-body';
import { jsonOf, postJson, rawCall, type RawReply } from './raw-call';
import { runSandbox, type RunningSandbox } from './running-sandbox';

/** Keys of the published videos API; result URL, usage and the rest come after them. */
const publishedKeys = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'error',
  'expires_at',
  'model',
  'progress',
  'prompt',
  'remixed_from_video_id',
  'seconds',
  'size',
  'status',
];
const text = (name: string, content: string): TestPart => ({ name, content });
const cine = [text('model', 'cine-1'), text('prompt', 'a cat')];
const file: TestPart = { name: 'input_reference', content: 'png', filename: 'C:\\me\\a.png' };

describe('compat mode', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox({ mode: 'compat', pathPrefix: '/proxy/media' });
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const send = (path: string, parts: TestPart[]): Promise<RawReply> => {
    const { body, headers } = multipartBody(parts);
    return rawCall(`${sandbox.url}${path}`, { method: 'POST', body, headers });
  };

  test.each<[string, TestPart[], Record<string, unknown>]>([
    ['text seconds', [...cine, text('seconds', '4')], { seconds: '4', size: '854x480' }],
    ['a size', [...cine, text('size', '720x1280')], { seconds: '2', size: '720x1280' }],
    ['a file, in any order', [file, ...cine], { model: 'cine-1' }],
    ['a reference object', [...cine, text('input_reference[image_url]', 'https://a.example/x.png')], {}],
    ['fields that nobody knows', [...cine, text('user', 'me'), text('tags[]', 'a'), text('tags[]', 'b')], {}],
    ['the field of another model', [...cine, text('duration', '4')], { seconds: '4' }],
  ])('a multipart create with %s is accepted', async (_name, parts, shown) => {
    const reply = await send('/v1/videos', parts);
    expect([reply.status, jsonOf(reply)]).toEqual([200, expect.objectContaining(shown)]);
    expect((await sandbox.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test.each<[string, TestPart[]]>([
    ['no prompt', [text('model', 'cine-1')]],
    ['another duration', [...cine, text('seconds', '5')]],
    ['a duration that is no number', [...cine, text('seconds', 'four')]],
    ['a size that no model makes', [...cine, text('size', '1x1')]],
    ['a size of another model', [...cine, text('size', '3840x2160')]],
    ['a path of a local file', [...cine, text('image_url', '/etc/passwd')]],
    ['an unknown model', [text('model', 'other'), text('prompt', 'x')]],
  ])('a multipart create with %s is a 400', async (_name, parts) => {
    expect((await send('/v1/videos', parts)).status).toBe(400);
    expect((await sandbox.admin.counters()).creates).toEqual({ received: 1, accepted: 0 });
  });

  test('a JSON create may hold nulls, text numbers and unknown fields', async () => {
    const body = { model: 'cine-1', prompt: 'x', seconds: '2', size: null, user: 'me', resolution: null };
    expect((await sandbox.create(body)).status).toBe(200);
    expect((await sandbox.create({ ...body, seconds: '3' })).status).toBe(400);
  });

  test('a body that is neither, or that breaks off, is a 400', async () => {
    const url = `${sandbox.url}/v1/videos`;
    const { body, headers } = multipartBody([...cine, file]);
    const half = { method: 'POST', headers, body: body.subarray(0, body.length - 40) };
    expect((await rawCall(url, half)).status).toBe(400);
    expect((await rawCall(url, { method: 'POST', body: 'model=cine-1' })).status).toBe(400);
  });

  test.each(['cine-1', 'cine-1-pro', 'atlas-long', 'motion-omni', 'sketch-lite', 'open-canvas'])(
    'a record of %s has every published key from the first reply on',
    async (model) => {
      const first = jsonOf(await sandbox.create({ model, prompt: '[queue:60s] [run:60s]' }));
      expect(Object.keys(first).slice(0, publishedKeys.length)).toEqual(publishedKeys);
      expect(first).toMatchObject({ completed_at: null, error: null, remixed_from_video_id: null });
      await sandbox.admin.patchTask(String(first.id), { createdAt: Date.now() - 200_000 });
      const last = await sandbox.poll(String(first.id));
      expect(Object.keys(last)).toEqual(expect.arrayContaining(publishedKeys));
      expect([typeof last.completed_at, typeof last.seconds]).toEqual(['number', 'string']);
    },
  );

  test('minimal records hold the published keys and no others', async () => {
    const minimal = await runSandbox({ mode: 'compat', records: 'minimal' });
    const id = await minimal.newTask({ model: 'cine-1-pro', seconds: 4 });
    expect(Object.keys(await minimal.poll(id))).toEqual(publishedKeys);
    await minimal.close();
  });

  test('result URLs are absent, relative to origin, scheme or base, signed, or the video itself', async () => {
    const shown: Record<string, unknown> = {};
    for (const model of ['cine-1', 'cine-1-pro', 'atlas-long', 'motion-omni', 'sketch-lite', 'open-canvas']) {
      const record = await sandbox.poll(await sandbox.newTask({ model, seconds: undefined }));
      const { url, video_url, output, data } = record;
      shown[model] = JSON.stringify({ url, video_url, output, data }).slice(0, 50);
    }
    const port = new URL(sandbox.mediaUrl).host;
    expect(shown).toEqual({
      'cine-1': '{}',
      'cine-1-pro': expect.stringMatching(/^{"video_url":"\/proxy\/media\/v1\/videos\//) as string,
      'atlas-long': expect.stringContaining(`{"data":{"result_url":"http://${port}`) as string,
      'motion-omni': expect.stringMatching(/^{"video_url":"data:video\/mp4;base64,AAAA/) as string,
      'sketch-lite': expect.stringContaining(`{"output":["//${port}/files/`) as string,
      'open-canvas': expect.stringMatching(/^{"url":"v1\/videos\//) as string,
    });
  });

  test('status words and errors differ from model to model, and one answers 500 with the record', async () => {
    const words: Record<string, unknown> = {};
    for (const model of ['cine-1', 'atlas-long', 'motion-omni', 'sketch-lite', 'open-canvas']) {
      const id = await sandbox.newTask({ model, seconds: undefined, prompt: '[fail:capacity]' });
      const reply = await rawCall(sandbox.taskUrl(id));
      words[model] = [reply.status, jsonOf(reply).status];
    }
    expect(words).toEqual({
      'cine-1': [200, 'failed'],
      'atlas-long': [200, 'FAILURE'],
      'motion-omni': [200, 'error'],
      'sketch-lite': [500, 'cancelled'],
      'open-canvas': [422, 'expired'],
    });
  });

  test('a failure that a fault asks for comes in the published shape too', async () => {
    const id = await sandbox.newTask();
    await sandbox.admin.addFaults([{ operation: 'poll', taskId: id, action: { type: 'task_fails' } }]);
    expect((await sandbox.poll(id)).error).toEqual({
      code: 'video_generation_failed',
      message: expect.any(String) as string,
    });
  });

  test.each<[string, unknown]>([
    ['cine-1', { error: { message: 'seconds is not allowed by this model', code: 'invalid_duration' } }],
    ['atlas-long', { code: 'invalid_duration', message: 'seconds is not allowed by this model', data: null }],
    ['motion-omni', { detail: [{ loc: ['body', 'duration'], type: 'invalid_duration' }] }],
  ])('the refusal of %s has its shape', async (model, body) => {
    const reply = await sandbox.create({ model, prompt: 'x', seconds: '7' });
    expect(reply.status).toBe(400);
    expect(jsonOf(reply)).toMatchObject(body as Record<string, unknown>);
  });

  test('faults keep the shape of the model; the strict one is never changed', async () => {
    const fault = { operation: 'create', times: 0, action: { type: 'status', status: 429 } } as const;
    await sandbox.admin.addFaults([fault]);
    expect(jsonOf(await sandbox.create({ model: 'sketch-lite', prompt: 'x' }))).toEqual({
      code: 'rate_limit_exceeded',
      message: 'Too many requests.',
      data: null,
    });
    const strict = await runSandbox({ faults: [fault] });
    expect(jsonOf(await strict.create({ model: 'sketch-lite', prompt: 'x' }))).toHaveProperty('error.code');
    await strict.close();
  });

  const image: TestPart = { name: 'image', content: 'a', filename: 'a.png' };
  const edit = [text('model', 'image-2'), text('prompt', 'x')];
  test.each<[string, TestPart[], number]>([
    ['the file before the texts', [image, ...edit], 200],
    ['one image[]', [...edit, { ...image, name: 'image[]' }], 200],
    ['image twice', [...edit, image, image], 200],
    ['fields that nobody knows', [...edit, text('background', 'auto'), image], 200],
    ['no image', edit, 400],
    [
      'a mask where none is allowed',
      [text('model', 'image-2 4K'), edit[1]!, image, { ...image, name: 'mask' }],
      400,
    ],
    ['a size of another model', [...edit, text('size', '1x1'), image], 400],
  ])('an edit with %s is validated by the limits of the model alone', async (_name, parts, status) => {
    expect((await send('/v1/images/edits', parts)).status).toBe(status);
  });

  test('a generation may hold nulls and unknown fields; one model writes null keys and relative URLs', async () => {
    const generate = (body: object): Promise<RawReply> =>
      postJson(`${sandbox.url}/v1/images/generations`, { prompt: 'x', ...body });
    const one = jsonOf<{ data: object[]; usage: object }>(
      await generate({ model: 'image-2', n: '2', quality: null, user: 'me' }),
    );
    expect(one.data.map((item) => Object.keys(item))).toEqual([['url'], ['url']]);
    expect(one.usage).toMatchObject({ output_tokens: 2000 });
    const other = jsonOf<{ data: { url: string }[] }>(
      await generate({ model: 'image-2 4K', size: '2880x2880' }),
    );
    expect(other.data).toEqual([
      {
        url: expect.stringMatching(/^\/proxy\/media\/generated\//) as string,
        b64_json: null,
        revised_prompt: null,
      },
    ]);
    expect((await generate({ model: 'image-2', n: 9 })).status).toBe(400);
  });

  test('whatever the fields are, a create is accepted or refused, never an accident', async () => {
    const name = fc.constantFrom(
      ...[
        'model',
        'prompt',
        'seconds',
        'size',
        'seconds[]',
        'size[x]',
        'prompt[a]',
        'model[]',
        'input_reference',
      ],
      ...['__proto__', 'constructor', 'a[__proto__]', 'toString[]', '[]', '', 'a[b', 'a[b][c]'],
    );
    const content = fc.constantFrom(
      '',
      '2',
      '-1',
      '1e400',
      '1280x720',
      'null',
      '\u0000',
      'ü',
      'x'.repeat(9_000),
    );
    const part = fc
      .record({ name, content })
      .chain((one) => fc.constantFrom<TestPart>(one, { ...one, filename: 'f' }));
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), json, async (parts, body) => {
        const replies = [
          await send('/v1/videos', [...cine, ...parts]),
          await sandbox.create({ ...body, model: 'cine-1', prompt: 'x' }),
        ];
        for (const { status } of replies) expect([200, 400]).toContain(status);
      }),
      { numRuns: 150 },
    );
  });

  test('an unknown mode is refused', async () => {
    await expect(runSandbox({ mode: 'loose' as 'compat' })).rejects.toThrow("'strict' or 'compat'");
  });
});
