import { multipartBody, type TestPart } from './multipart-body';
import { jsonOf, postJson, rawCall } from './raw-call';
import { aVideo, runSandbox, type RunningSandbox } from './running-sandbox';

const dataUrl = `data:image/png;base64,${Buffer.alloc(60, 7).toString('base64')}`;
const base64 = Buffer.alloc(60, 7).toString('base64');
const omni = { model: 'motion-omni', prompt: 'x' };

describe('strict mode', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const violations = async (): Promise<string[]> =>
    (await sandbox.admin.requests()).flatMap((entry) => entry.violations);

  test.each<[string, Record<string, unknown>]>([
    ['no model', { prompt: 'x' }],
    ['an empty model', { ...aVideo, model: '' }],
    ['an unknown model', { ...aVideo, model: 'other' }],
    ['an image model', { prompt: 'x', model: 'image-2' }],
    ['an empty prompt', { ...aVideo, prompt: ' ' }],
    ['a null field', { ...aVideo, resolution: null }],
    ['an unknown field', { ...aVideo, watermark: false }],
    ['both duration fields', { ...aVideo, duration: 2 }],
    ['the wrong duration field', { ...aVideo, seconds: undefined, duration: 2 }],
    ['a duration as text', { ...aVideo, seconds: '2' }],
    ['a broken duration', { ...aVideo, seconds: 2.5 }],
    ['a duration of another model', { ...aVideo, seconds: 3 }],
    ['a resolution of another model', { ...aVideo, resolution: '1080p' }],
    ['a ratio of another model', { ...aVideo, aspect_ratio: '21:9' }],
    ['an integer where a text is wanted', { model: 'atlas-long', prompt: 'x', seconds: 6 }],
    ['a reference of another model', { ...aVideo, image_url: 'https://a.example/x.png' }],
    ['a reference as text instead of a list', { ...aVideo, reference_images: 'https://a.example/x.png' }],
    ['a reference as a list instead of a text', { ...omni, audio_reference: [base64] }],
    ['too many references', { ...aVideo, reference_images: Array(4).fill('https://a.example/x.png') }],
    ['an empty reference list', { ...aVideo, reference_images: [] }],
    ['a data URL where a URL is wanted', { ...aVideo, reference_images: [dataUrl] }],
    ['a URL where a data URL is wanted', { ...omni, reference_images: ['https://a.example/x.png'] }],
    ['an image where a video is wanted', { ...omni, reference_videos: [dataUrl] }],
    ['a path where Base64 is wanted', { ...omni, audio_reference: '/etc/passwd' }],
    ['a POSIX path', { ...aVideo, reference_images: ['/etc/passwd'] }],
    ['a file URL', { ...aVideo, camera: 'file:///etc/passwd' }],
    ['a Windows path', { ...aVideo, camera: { lens: 'C:\\lens.cube' } }],
  ])('a create with %s is a 400', async (_name, body) => {
    const reply = await sandbox.create(body);
    expect(reply.status).toBe(400);
    expect(jsonOf<{ error: Record<string, unknown> }>(reply).error).toEqual({
      message: expect.any(String) as string,
      type: 'invalid_request_error',
      param: expect.anything() as string,
      code: expect.any(String) as string,
    });
    expect((await violations()).length).toBeGreaterThan(0);
    expect((await sandbox.admin.counters()).creates).toEqual({ received: 1, accepted: 0 });
  });

  test.each<[string, Record<string, unknown>]>([
    ['all common fields', { ...aVideo, resolution: '720p', aspect_ratio: '9:16', camera: 'dolly' }],
    ['references as URLs', { ...aVideo, reference_images: ['https://a.example/x.png'] }],
    ['a duration as text', { model: 'atlas-long', prompt: 'x', seconds: '10', images: [base64] }],
    [
      'three kinds of references',
      { ...omni, duration: 5, reference_images: [dataUrl], audio_reference: base64 },
    ],
    ['a model without a configuration of its fields', { model: 'open-canvas', prompt: 'x', duration: 7 }],
    ['a prompt that looks like a path', { ...aVideo, prompt: '/etc/passwd' }],
  ])('a create with %s is accepted', async (_name, body) => {
    expect((await sandbox.create(body)).status).toBe(200);
    expect(await violations()).toEqual([]);
  });

  test('a create must be JSON', async () => {
    const url = `${sandbox.url}/v1/videos`;
    const { body, headers } = multipartBody([{ name: 'model', content: 'cine-1' }]);
    expect((await rawCall(url, { method: 'POST', body, headers })).status).toBe(400);
    expect((await postJson(url, aVideo, { headers: { 'content-type': 'text/plain' } })).status).toBe(400);
    expect((await postJson(url, [aVideo])).status).toBe(400);
    const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' };
    expect((await rawCall(url, broken)).status).toBe(400);
    expect((await rawCall(url, { method: 'POST' })).status).toBe(400);
  });

  test('a poll and a download must have no body', async () => {
    const id = await sandbox.newTask();
    for (const url of [sandbox.taskUrl(id), `${sandbox.taskUrl(id)}/content`]) {
      expect((await rawCall(url, { body: '{}', headers: { 'content-length': '2' } })).status).toBe(400);
    }
    expect(await violations()).toHaveLength(2);
  });

  test.each<[string, Record<string, unknown>]>([
    ['a multiplication sign', { size: '512×512' }],
    ['a capital X', { size: '512X512' }],
    ['a size of another model', { size: '3840x2160' }],
    ['quality where none is allowed', { model: 'image-2 4K', quality: 'high' }],
    ['an unknown quality', { quality: 'ultra' }],
    ['n = 0', { n: 0 }],
    ['n as text', { n: '1' }],
    ['n above the limit', { n: 5 }],
    ['an unknown response_format', { response_format: 'png' }],
    ['a null', { size: null }],
    ['an unknown field', { user: 'x' }],
    ['a video model', { model: 'cine-1' }],
    ['a local path', { user: './x.png' }],
  ])('a generation with %s is a 400', async (_name, body) => {
    const url = `${sandbox.url}/v1/images/generations`;
    expect((await postJson(url, { model: 'image-2', prompt: 'x', ...body })).status).toBe(400);
    expect((await violations()).length).toBeGreaterThan(0);
  });

  const model: TestPart = { name: 'model', content: 'image-2' };
  const prompt: TestPart = { name: 'prompt', content: 'x' };
  const image: TestPart = { name: 'image', content: 'a', filename: 'a.png' };
  const listed: TestPart = { name: 'image[]', content: 'a', filename: 'a.png' };

  test.each<[string, TestPart[]]>([
    ['no image', [model, prompt]],
    ['image and image[]', [model, prompt, image, listed]],
    ['image twice', [model, prompt, image, image]],
    ['a single image[]', [model, prompt, listed]],
    ['a text part after a file', [model, image, prompt]],
    ['model not first', [prompt, model, image]],
    ['an empty file', [model, prompt, { ...image, content: '' }]],
    ['a path as the file name', [model, prompt, { ...image, filename: '/home/me/a.png' }]],
    ['image as text', [model, prompt, { name: 'image', content: '/home/me/a.png' }]],
    ['a repeated field', [model, prompt, prompt, image]],
    ['a field that edits do not take', [model, prompt, { name: 'quality', content: 'high' }, image]],
    ['too many images', [model, prompt, listed, listed, listed, listed, listed]],
    [
      'a mask without mask editing',
      [{ ...model, content: 'image-2 4K' }, prompt, image, { ...image, name: 'mask' }],
    ],
    ['a bad size', [model, prompt, { name: 'size', content: '1x1' }, image]],
    ['n as a word', [model, prompt, { name: 'n', content: 'two' }, image]],
  ])('an edit with %s is a 400', async (_name, parts) => {
    const { body, headers } = multipartBody(parts);
    const reply = await rawCall(`${sandbox.url}/v1/images/edits`, { method: 'POST', body, headers });
    expect(reply.status).toBe(400);
    expect((await violations()).length).toBeGreaterThan(0);
    expect((await sandbox.admin.counters()).images.accepted).toBe(0);
  });

  test('an edit whose body breaks off is a 400', async () => {
    const { body, headers } = multipartBody([model, prompt, image]);
    const half = { method: 'POST', headers, body: body.subarray(0, body.length - 40) };
    expect((await rawCall(`${sandbox.url}/v1/images/edits`, half)).status).toBe(400);
    expect(await violations()).toEqual(['the multipart body could not be read']);
  });

  test('an edit must be multipart', async () => {
    const reply = await postJson(`${sandbox.url}/v1/images/edits`, { model: 'image-2', prompt: 'x' });
    expect(reply.status).toBe(400);
  });
});
