import { DOWNLOAD_BOUNDS } from '../../src/domain/download';
import { type ContractBench, openBench } from './contract-bench';
import { withoutUrl } from './without-url';

/** Contract 7 over the wire: what replies to polls and downloads become, and failed tasks. */
describe('errors of polls, downloads and tasks', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const completed = async () => {
    const { video } = await bench.created({ model: 'motion-omni', durationSeconds: 3 });
    await bench.admin.patchTask(video.taskId, { record: withoutUrl });
    return video;
  };

  test.each([
    [400, 'bad_request'],
    [404, 'not_found'],
  ])('[C7.2] %d to a task query is no failed video and no reason to create', async (status, error) => {
    const video = await completed();
    await bench.fault('poll', { type: 'status', status }, { times: 5 });
    for (let poll = 0; poll < 5; poll++) {
      const answer = await bench.poll(video);
      expect(answer).toMatchObject({ error, httpStatus: status });
      expect(answer).not.toHaveProperty('record');
    }
    for (const { path } of await bench.seen('poll'))
      expect(path).toBe(`/v1/videos/${encodeURIComponent(video.taskId)}`);
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed' } });
    expect((await bench.admin.counters()).creates.received).toBe(1);
  });

  test.each([
    [429, 'rate_limited'],
    [502, 'unavailable'],
    [503, 'unavailable'],
  ])(
    '[C7.4] %d to a poll is told with its Retry-After, and the next poll asks again',
    async (status, error) => {
      // A gate that a 429 closes must not be in the way of the next test.
      const video = { ...(await completed()), model: `family-of-${status}` };
      await bench.fault('poll', { type: 'status', status, headers: { 'retry-after': '0' } });
      expect(await bench.poll(video)).toMatchObject({ error, httpStatus: status, retryAfterMs: 0 });
      expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed' } });
      await bench.fault('poll', { type: 'status', status, headers: { 'retry-after': '90' } });
      expect(await bench.poll(video)).toMatchObject({ error, retryAfterMs: 90_000 });
    },
  );

  test.each([429, 502, 503])(
    '[C7.4] %d to a download is retried with bounded backoff, never before Retry-After',
    async (status) => {
      const video = await completed();
      await bench.fault(
        'content',
        { type: 'status', status, headers: { 'retry-after': '45' } },
        { times: 2 },
      );
      await bench.fault('content', { type: 'status', status }, { times: 4 });
      const { result, tries } = await bench.download(video);
      expect(result.outcome).toBe('downloaded');
      expect(tries.map(({ httpStatus }) => httpStatus)).toEqual(Array(6).fill(status));
      const delays = tries.map(({ delayMs }) => delayMs!);
      for (const delay of delays.slice(0, 2)) expect(delay).toBeGreaterThanOrEqual(45_000);
      for (const delay of delays) expect(delay).toBeGreaterThanOrEqual(3_000);
      for (const delay of delays) expect(delay).toBeLessThanOrEqual(60_000);
      expect((await bench.admin.counters()).creates.received).toBe(1);
    },
  );

  test('[C7.6] other network failures of polls and downloads are tried again, within bounds', async () => {
    const video = await completed();
    for (const how of ['reset', 'close', 'cut_body'] as const) {
      await bench.fault('poll', { type: 'lose_reply', accepted: false, how });
      expect(await bench.poll(video)).toMatchObject({ error: 'network' });
    }
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed' } });
    await bench.fault('content', { type: 'lose_reply', accepted: false, how: 'reset' }, { times: 2 });
    await bench.fault('content', { type: 'cut_body', afterBytes: 2_000, how: 'close' });
    const mended = await bench.download(video);
    expect(mended.result.outcome).toBe('downloaded');
    expect(mended.tries.map((one) => one.class)).toEqual(['network', 'network', 'network']);
    await bench.fault('content', { type: 'lose_reply', accepted: false, how: 'reset' }, { times: 0 });
    const broken = await bench.download(video);
    expect(broken.result).toMatchObject({ outcome: 'content_unavailable', reason: 'not_ready' });
    expect(broken.tries.length).toBeLessThanOrEqual(DOWNLOAD_BOUNDS.livingTries);
  });

  test.each(['moderation', 'capacity', 'invalid', 'quota', 'unknown'] as const)(
    "[C7.7] [C7.8] a task that failed for %s carries the service's error in any of its shapes",
    async (kind) => {
      for (let shape = 0; shape < 5; shape++) {
        const { video } = await bench.created({ prompt: `a storm [fail:${kind}]` });
        expect(await bench.poll(video)).toMatchObject({ record: { phase: 'failed', error: { kind } } });
      }
    },
  );

  test("[C7.7] the service's error is cleaned before anybody gets it", async () => {
    const { video } = await bench.created();
    const message =
      'Blocked. See https://help.example/x?token=abc, key sandbox-key, file /srv/media/in/a.png';
    await bench.admin.patchTask(video.taskId, {
      status: 'failed',
      failure: { error: { code: 'moderation_blocked', message } },
    });
    const answer = await bench.poll(video);
    expect(answer).toMatchObject({ record: { error: { kind: 'moderation', code: 'moderation_blocked' } } });
    const { error } = (answer as { record: { error: { message: string } } }).record;
    expect(error.message).toMatch(/^Blocked\. See https:\/\/help\.example/);
    expect(error.message).not.toMatch(/token=abc|sandbox-key|srv/);
  });

  test('[C7.9] neither the 200 of a create nor a finished video is told as proof that references were used', async () => {
    const references = [{ kind: 'image', source: { url: 'https://pictures.example/a.png' } }] as const;
    const answer = await bench.created({ durationSeconds: 2, references });
    const { result } = await bench.download(answer.video);
    for (const told of [answer, result])
      expect(JSON.stringify(told)).not.toMatch(
        /references?[^"]*(?:used|applied|honou?red)|used[^"]*reference/i,
      );
    // What was asked for is kept as what was asked for.
    expect(answer.video.referenceMode).toBe('image:1');
  });
});
