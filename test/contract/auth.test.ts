import { once } from 'node:events';
import { createServer } from 'node:net';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, KEY, openBench } from './contract-bench';

/** Contract 5, rules 1 to 3, and 6 over the wire. */
describe('credentials', () => {
  const FORBIDDEN = 'known-without-access';
  let key = KEY;
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ apiKey: () => key, sandbox: { forbiddenKeys: [FORBIDDEN] } });
  });
  beforeEach(() => {
    key = KEY;
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const verdicts = async () =>
    (await bench.seen()).map(({ operation, authorization, cookie }) => [operation, authorization, cookie]);

  test('[C5.1] [C5.3] the key is in every request to the service and in none to another origin, through redirects and result URLs', async () => {
    const png = await bench.input('a.png', makePng(3, 3));
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.poll(video);
    await bench.download(video);
    // No content endpoint: the signed URL of the record is what is left.
    const other = await bench.created({ durationSeconds: 2 });
    await bench.fault('content', { type: 'not_ready' }, { taskId: other.video.taskId });
    await bench.download(other.video);
    await bench.generate({ n: 2 });
    await bench.edit({ images: [{ file: png }] });
    expect(await verdicts()).toEqual([
      ['create', 'valid', false],
      ['poll', 'valid', false],
      ['poll', 'valid', false],
      ['content', 'valid', false],
      ['media', 'none', false],
      ['create', 'valid', false],
      ['poll', 'valid', false],
      ['content', 'valid', false],
      ['media', 'none', false],
      ['generate', 'valid', false],
      ['generated', 'valid', false],
      ['generated', 'valid', false],
      ['edit', 'valid', false],
      ['generated', 'valid', false],
    ]);
    const headers = (await bench.seen('media')).flatMap(({ headerNames }) => headerNames);
    expect([...new Set(headers)].sort()).toEqual(['accept-encoding', 'connection', 'host', 'user-agent']);
  });

  test('[C5.3] a redirect out and back again, and links of images and references elsewhere, carry no key out', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    const content = `${bench.sandbox.url}/v1/videos/${video.taskId}/content`;
    await bench.fault('media', { type: 'redirect', location: content });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
    const elsewhere = `${bench.sandbox.mediaUrl}/files/nothing.png?signature=abc`;
    const data = [{ url: elsewhere }];
    // The other origin refuses what it does not know; the call is over and its key stayed here.
    await bench.fault('generate', { type: 'accept_then_status', status: 200, body: { created: 1, data } });
    expect(await bench.generate({})).toMatchObject({ outcome: 'results_lost' });
    const references = [{ kind: 'image', source: { url: elsewhere } }] as const;
    expect(await bench.create({ model: 'cine-1-pro', references })).toMatchObject({ outcome: 'rejected' });
    const seen = await bench.seen();
    const out = seen.filter(({ origin }) => origin === 'media');
    expect(out.length).toBeGreaterThanOrEqual(4);
    for (const { authorization, cookie, headerNames } of out) {
      expect({ authorization, cookie }).toEqual({ authorization: 'none', cookie: false });
      expect(headerNames).not.toContain('authorization');
    }
    for (const { authorization } of seen.filter(({ origin }) => origin === 'api'))
      expect(authorization).toBe('valid');
  });

  test.each([
    ['an unknown key', 'nobody-knows-it', 401],
    ['a key without access', FORBIDDEN, 403],
  ])(
    '[C5.2] [C7.3] %s arrives as %s %d: it asks for credentials and is not sent again',
    async (_w, wrong, status) => {
      key = wrong;
      const created = await bench.create({});
      expect(created).toMatchObject({ outcome: 'rejected', reason: 'credentials', httpStatus: status });
      expect(created).toHaveProperty('message', expect.stringMatching(/key|credentials/i));
      // 403 may be about the request: one more call asks. What is asked next with this key waits.
      if (status === 403)
        expect(await bench.create({})).toMatchObject({ outcome: 'rejected', httpStatus: 403 });
      expect(await bench.create({})).toMatchObject({
        outcome: 'not_sent',
        reason: 'credentials',
        sent: false,
      });
      await expect(bench.generate({})).rejects.toMatchObject({ details: [{ class: 'refusal_stands' }] });
      const asked = status === 401 ? ['invalid'] : ['forbidden', 'forbidden'];
      expect(await verdicts()).toEqual(asked.map((verdict) => ['create', verdict, false]));
      expect((await bench.admin.counters()).creates.accepted).toBe(0);
    },
  );

  test('[C5.2] without any key nothing is sent', async () => {
    key = '';
    expect(await bench.create({})).toMatchObject({ outcome: 'not_sent', reason: 'credentials', sent: false });
    await expect(bench.generate({})).rejects.toMatchObject({ details: [{ class: 'no_key' }] });
    expect(await bench.poll({ taskId: 'a-task', model: null })).toMatchObject({ error: 'credentials' });
    expect(await bench.seen()).toEqual([]);
  });

  test('[C7.3] a task that exists is not lost by 401 or 403, and its download asks once a minute', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    key = FORBIDDEN;
    expect(await bench.poll(video)).toMatchObject({ error: 'credentials', httpStatus: 403 });
    const { result, tries } = await bench.download(video);
    expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'auth', httpStatus: 403 });
    expect(tries.length).toBeGreaterThan(0);
    expect(tries.length).toBeLessThanOrEqual(10);
    for (const { class: word, delayMs } of tries) {
      expect(word).toBe('credentials');
      expect(delayMs).toBeGreaterThanOrEqual(60_000);
    }
    key = KEY;
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed' } });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test('[C5.2] a changed key is used by the next call', async () => {
    key = 'nobody-knows-it';
    expect(await bench.create({})).toMatchObject({ outcome: 'rejected', reason: 'credentials' });
    key = KEY;
    expect(await bench.create({})).toMatchObject({ outcome: 'created' });
  });

  test('[C6.1] completion is learned by polling alone: no port is opened, no callback or event stream is named', async () => {
    // What is looked at does show an open port.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(listening()).toBe(1);
    server.close();
    await once(server, 'close');
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.poll(video);
    expect(listening()).toBe(0);
    await bench.download(video);
    await bench.generate({});
    expect(listening()).toBe(0);
    for (const { json, headers, headerNames } of await bench.seen()) {
      expect(headers['accept'] ?? '').not.toContain('event-stream');
      expect(headerNames).not.toContain('upgrade');
      expect(Object.keys(json ?? {}).join()).not.toMatch(/callback|webhook|notify|stream/i);
    }
  });
});

/** Servers that this process listens with. */
function listening(): number {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name === 'TCPServerWrap' || name === 'PipeServerWrap').length;
}
