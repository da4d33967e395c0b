import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ContractBench, digest, openBench } from './contract-bench';
import { withoutUrl } from './without-url';

/** Contract 4 over the wire: polls and downloads. */
describe('polls and content', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const placesOf = async (taskId: string) =>
    (await bench.seen())
      .filter((request) => request.taskId === taskId && ['content', 'media'].includes(request.operation))
      .map(({ operation, status }) => `${operation} ${status}`);

  test('[C4.7] a poll is a GET without a body, and only id, status and progress are relied on', async () => {
    const { video } = await bench.created();
    const nothing = { model: null, resolution: null, seconds: null, fps: null, usage: null, object: null };
    await bench.fault('poll', { type: 'record', patch: { ...nothing, created_at: null } });
    await bench.fault('poll', {
      type: 'status',
      status: 200,
      body: { id: video.taskId, status: 'in_progress' },
    });
    await bench.fault('poll', { type: 'status', status: 200, body: { status: 'queued', progress: 7 } });
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed' } });
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'in_progress' } });
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'queued', progress: 7 } });
    for (const poll of await bench.seen('poll')) {
      expect(poll).toMatchObject({ method: 'GET', bodyBytes: 0, path: `/v1/videos/${video.taskId}` });
      expect(poll.headers).not.toHaveProperty('content-type');
      expect(poll.headers).not.toHaveProperty('transfer-encoding');
    }
  });

  test('[C4.1] the content endpoint is asked before the URL of the record', async () => {
    const direct = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    expect((await bench.download(direct.video)).result.outcome).toBe('downloaded');
    expect(await placesOf(direct.video.taskId)).toEqual(['content 200']);
    const fallback = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    await bench.fault('content', { type: 'not_ready' });
    expect((await bench.download(fallback.video)).result.outcome).toBe('downloaded');
    expect(await placesOf(fallback.video.taskId)).toEqual(['content 404', 'media 200']);
  });

  test('[C4.8] content is a GET without a body, asked only once completed, and its redirects are followed', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    const hop = `/v1/videos/${video.taskId}/content`;
    await bench.fault('content', { type: 'redirect', location: hop, status: 307 });
    await bench.fault('content', { type: 'redirect', location: `${bench.sandbox.url}${hop}`, status: 301 });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
    expect(await placesOf(video.taskId)).toEqual(['content 307', 'content 301', 'content 302', 'media 200']);
    for (const { method, bodyBytes, violations } of await bench.seen('content')) {
      expect({ method, bodyBytes, violations }).toEqual({ method: 'GET', bodyBytes: 0, violations: [] });
    }
  });

  test('[C4.8] redirects without end are given up after five, and nothing is asked of them again', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.admin.patchTask(video.taskId, { record: withoutUrl });
    const location = `/v1/videos/${video.taskId}/content`;
    await bench.fault('content', { type: 'redirect', location }, { times: 0 });
    expect((await bench.download(video)).result).toMatchObject({
      outcome: 'content_unavailable',
      reason: 'blocked',
    });
    expect(await bench.seen('content')).toHaveLength(6);
  });

  test('[C4.2] content that is not there yet is asked for again after a pause, and then it is fetched', async () => {
    for (const status of [400, 404, 409] as const) {
      const { video } = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
      await bench.admin.patchTask(video.taskId, { record: withoutUrl });
      await bench.fault('content', { type: 'not_ready', status }, { times: 3 });
      const { result, tries } = await bench.download(video);
      expect(result.outcome).toBe('downloaded');
      expect(tries.map((one) => [one.class, one.httpStatus])).toEqual(Array(3).fill(['missing', status]));
      for (const { delayMs } of tries) expect(delayMs).toBeGreaterThanOrEqual(3_000);
    }
    expect((await bench.admin.counters()).creates.received).toBe(3);
  });

  test('[C4.2] content that never comes is given up within the bound, with the task kept and nothing created', async () => {
    const { video } = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    await bench.admin.patchTask(video.taskId, { record: withoutUrl });
    await bench.fault('content', { type: 'not_ready' }, { times: 0 });
    const { result, tries } = await bench.download(video);
    expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'not_ready', httpStatus: 404 });
    expect(tries.length).toBeLessThan(20);
    const waited = tries.reduce((sum, { delayMs }) => sum + (delayMs ?? 0), 0);
    expect(waited).toBeLessThanOrEqual(600_000);
    await bench.admin.clearFaults();
    // Kept: the same id can be fetched later.
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test.each(['json_page', 'html_page'] as const)(
    '[C4.3] a %s with status 200 and video/mp4 is never stored as a video',
    async (type) => {
      const { video } = await bench.created({ durationSeconds: 2 });
      await bench.fault('content', { type }, { times: 0 });
      await bench.fault('media', { type }, { times: 0 });
      const { result, tries } = await bench.download(video);
      expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'not_video' });
      for (const { class: word } of tries) expect(word).toBe('not_video');
      const stored = await readdir(join(bench.root, 'artifacts', 'sha256'), { recursive: true });
      const files = stored.filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{64}$/.test(name));
      for (const file of files) {
        const head = (await readFile(join(bench.root, 'artifacts', 'sha256', file)))
          .subarray(0, 400)
          .toString();
        expect(head).not.toMatch(/<html|server_error/);
      }
      await bench.admin.clearFaults();
      const { result: later } = await bench.download(video);
      if (later.outcome !== 'downloaded') throw new Error(JSON.stringify(later));
      expect(later.artifact.mediaType).toBe('video/mp4');
    },
  );

  test('[C4.3] a file cut short with a length that agrees is no video either', async () => {
    const { video } = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    await bench.admin.patchTask(video.taskId, { record: withoutUrl });
    await bench.fault('content', { type: 'truncate', bytes: 3_000 }, { times: 0 });
    expect((await bench.download(video)).result).toMatchObject({
      outcome: 'content_unavailable',
      reason: 'incomplete_file',
    });
    await bench.admin.clearFaults();
    const { result } = await bench.download(video);
    if (result.outcome !== 'downloaded') throw new Error(JSON.stringify(result));
    const bytes = await readFile(await bench.store.localPath(result.artifact));
    expect(digest(bytes)).toBe(result.artifact.sha256);
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
  });

  test('[C4.9] both image endpoints answer with the image response', async () => {
    const generated = await bench.generate({ n: 2 });
    if (generated.outcome !== 'completed') throw new Error(JSON.stringify(generated));
    const edited = await bench.edit({ images: generated.images.map((artifact) => ({ artifact })) });
    for (const outcome of [generated, edited])
      expect(outcome).toMatchObject({ outcome: 'completed', created: expect.any(Number) as number });
    const paid = (await bench.seen()).filter(({ operation }) => operation !== 'generated');
    expect(paid.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/images/generations',
      'POST /v1/images/edits',
    ]);
    expect(paid.map(({ headers }) => headers['content-type']?.split(';')[0])).toEqual([
      'application/json',
      'multipart/form-data',
    ]);
  });
});

test('[C2.2.6] [C4.2] links that expired are reported as that, with the task kept, and new ones are used later', async () => {
  const bench = await openBench({ sandbox: { linkTtlMs: -1 } });
  try {
    const { video } = await bench.created({ durationSeconds: 2 });
    const { result, tries } = await bench.download(video);
    expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'expired', httpStatus: 403 });
    expect(tries.length).toBeLessThan(20);
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
    // What the next asking brings is fetched, whatever was handed out before.
    const other = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    expect((await bench.download(other.video)).result.outcome).toBe('downloaded');
  } finally {
    await bench.close();
  }
});
