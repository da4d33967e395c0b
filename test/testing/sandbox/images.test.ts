import { createHash } from 'node:crypto';
import { imageSize } from 'image-size';
import { PNG } from 'pngjs';
import { inputColour } from '../../../packages/sandbox/src';
import { multipartBody } from './multipart-body';
import { jsonOf, postJson, rawCall } from './raw-call';
import { runSandbox, type RunningSandbox } from './running-sandbox';

interface ImageReply {
  created: number;
  data: { url?: string; b64_json?: string }[];
}

describe('sandbox images', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const generate = async (body: Record<string, unknown>): Promise<ImageReply> =>
    jsonOf(
      await postJson(`${sandbox.url}/v1/images/generations`, { model: 'image-2', prompt: 'a tree', ...body }),
    );

  test('each result is a link below /generated/ to a PNG of the size asked for', async () => {
    const reply = await generate({ size: '1536x1024', n: 2 });
    expect(Math.abs(reply.created - Date.now() / 1000)).toBeLessThan(60);
    expect(reply.data).toHaveLength(2);
    const hashes = new Set<string>();
    for (const { url } of reply.data) {
      expect(url).toContain(`${sandbox.url}/generated/`);
      const file = await rawCall(String(url), { key: null });
      expect([file.status, file.headers['content-type']]).toEqual([200, 'image/png']);
      expect(imageSize(file.body)).toMatchObject({ type: 'png', width: 1536, height: 1024 });
      expect(PNG.sync.read(file.body).data).toHaveLength(1536 * 1024 * 4);
      hashes.add(createHash('sha256').update(file.body).digest('hex'));
    }
    expect(hashes.size).toBe(2);
    const counters = await sandbox.admin.counters();
    expect(counters.images).toEqual({ received: 1, accepted: 1, results: 2 });
    const log = await sandbox.admin.requests({ operation: 'generated' });
    expect(log.map((entry) => entry.authorization)).toEqual(['none', 'none']);
  });

  test('b64_json is raw Base64 of a PNG; auto is 1024 x 1024', async () => {
    const [item] = (await generate({ size: 'auto', response_format: 'b64_json' })).data;
    expect(item?.b64_json).toMatch(/^[A-Za-z0-9+/]+=*$/);
    const bytes = Buffer.from(item?.b64_json ?? '', 'base64');
    expect(imageSize(bytes)).toMatchObject({ type: 'png', width: 1024, height: 1024 });
  });

  test('the 4K model makes 3840 x 2160', async () => {
    const [item] = (await generate({ model: 'image-2 4K', size: '3840x2160' })).data;
    const file = await rawCall(String(item?.url));
    expect(imageSize(file.body)).toMatchObject({ width: 3840, height: 2160 });
  });

  test('directives change the form and the number of results', async () => {
    expect((await generate({ prompt: '[result:b64]' })).data[0]).toHaveProperty('b64_json');
    expect((await generate({ prompt: '[results:0]', n: 2 })).data).toEqual([]);
  });

  test('an edit shows its inputs in the order of the parts, and the log keeps every part', async () => {
    const contents = ['first', 'second', 'third'];
    const files = contents.map((content) => ({ name: 'image[]', content, filename: `${content}.png` }));
    const { body, headers } = multipartBody([
      { name: 'model', content: 'image-2' },
      { name: 'prompt', content: 'mix them' },
      { name: 'size', content: '512x512' },
      ...files,
      { name: 'mask', content: 'mask', filename: 'mask.png' },
    ]);
    const reply = await rawCall(`${sandbox.url}/v1/images/edits`, { method: 'POST', body, headers });
    expect(reply.status).toBe(200);
    const [entry] = await sandbox.admin.requests({ operation: 'edit' });
    expect(entry?.parts?.map((part) => `${part.kind} ${part.name} ${part.filename ?? part.value}`)).toEqual([
      'field model image-2',
      'field prompt mix them',
      'field size 512x512',
      'file image[] first.png',
      'file image[] second.png',
      'file image[] third.png',
      'file mask mask.png',
    ]);
    expect(entry?.bodyBytes).toBe(body.length);
    expect(entry?.bodySha256).toBe(createHash('sha256').update(body).digest('hex'));
    const picture = PNG.sync.read((await rawCall(String(jsonOf<ImageReply>(reply).data[0]?.url))).body);
    const block = Math.floor(512 / 5);
    contents.forEach((content, position) => {
      const at = ((512 - 10) * 512 + position * block + 10) * 4;
      const hash = createHash('sha256').update(content).digest('hex');
      expect([...picture.data.subarray(at, at + 3)]).toEqual([...inputColour(hash)]);
    });
  });

  test('generated files expire', async () => {
    const short = await runSandbox({ linkTtlMs: -1 });
    const reply = await postJson(`${short.url}/v1/images/generations`, { model: 'image-2', prompt: 'gone' });
    const [item] = jsonOf<ImageReply>(reply).data;
    expect((await rawCall(String(item?.url))).status).toBe(404);
    await short.close();
  });
});
