import { rawCall, type RawReply } from './raw-call';
import { runSandbox, type RunningSandbox } from './running-sandbox';

describe('the media origin', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const newLink = async (): Promise<string> => {
    const content = await rawCall(`${sandbox.taskUrl(await sandbox.newTask())}/content`);
    return String(content.headers.location);
  };
  const ranged = (url: string, range: string, more: Record<string, string> = {}): Promise<RawReply> =>
    rawCall(url, { key: null, headers: { range, ...more } });

  test('ranges are answered from the same bytes under a strong ETag', async () => {
    const url = await newLink();
    const whole = await rawCall(url, { key: null });
    const size = whole.body.length;
    expect(whole.headers).toMatchObject({ 'accept-ranges': 'bytes', 'content-length': String(size) });
    const part = await ranged(url, 'bytes=100-199');
    expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 100-199/${size}`]);
    expect(part.body).toEqual(whole.body.subarray(100, 200));
    expect(part.headers.etag).toBe(whole.headers.etag);
    expect((await ranged(url, 'bytes=500-')).body).toEqual(whole.body.subarray(500));
    expect((await ranged(url, 'bytes=-50')).body).toEqual(whole.body.subarray(size - 50));
    const beyond = await ranged(url, `bytes=${size}-`);
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${size}`]);
  });

  test('If-Range with another ETag gives the whole file', async () => {
    const url = await newLink();
    const etag = String((await rawCall(url, { key: null })).headers.etag);
    expect((await ranged(url, 'bytes=5-', { 'if-range': etag })).status).toBe(206);
    expect((await ranged(url, 'bytes=5-', { 'if-range': '"other"' })).status).toBe(200);
  });

  test('a changed or expired link is 403', async () => {
    const url = await newLink();
    expect((await rawCall(url.replace('expires=', 'expires=9'), { key: null })).status).toBe(403);
    expect((await rawCall(url.split('?')[0] ?? '', { key: null })).status).toBe(403);
    const short = await runSandbox({ linkTtlMs: -1 });
    const content = await rawCall(`${short.taskUrl(await short.newTask())}/content`);
    expect((await rawCall(String(content.headers.location), { key: null })).status).toBe(403);
    await short.close();
  });

  test('a key or a cookie that arrives here is a violation', async () => {
    const url = await newLink();
    await rawCall(url, { headers: { cookie: 'a=b' } });
    const [entry] = await sandbox.admin.requests({ operation: 'media' });
    expect(entry).toMatchObject({ origin: 'media', authorization: 'valid', cookie: true });
    expect(entry?.violations).toHaveLength(2);
  });
});
