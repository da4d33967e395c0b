import { DOWNLOAD_BOUNDS } from '../../src/domain/download';
import { type ModelEntry } from '../../src/domain/model-config';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, laterTry, openBench } from './contract-bench';
import { withoutUrl } from './without-url';

/** Contract 8 over the wire; minutes of waiting and jitter are proved in the pure domain. */
describe('limits', () => {
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
    ['durationSeconds', { durationSeconds: 3 }, ['2', '4', '8']],
    ['resolution', { resolution: '1080p' }, ['480p', '720p']],
    ['aspectRatio', { aspectRatio: '21:9' }, ['16:9', '9:16', '1:1']],
  ])(
    '[C8.1] a %s outside the configuration is refused with the allowed values',
    async (field, request, allowed) => {
      const answer = await bench.create(request);
      expect(answer).toMatchObject({
        outcome: 'rejected',
        reason: 'invalid_request',
        field,
        allowed,
        sent: false,
      });
      expect(await bench.seen()).toEqual([]);
    },
  );

  test.each([
    ['size', { size: '640x480' }],
    ['quality', { quality: 'best' }],
    ['n', { n: 5 }],
  ])('[C8.1] a %s outside the configuration of an image model is refused', async (field, request) => {
    expect(await bench.generate(request)).toMatchObject({ outcome: 'rejected', field, sends: 0 });
    expect(await bench.seen()).toEqual([]);
  });

  test.each([
    ['[C8.2] the general family', 'cine-1', 3, 5],
    ['[C8.3] the slow family', 'atlas-long', 10, 15],
    ['[C8.4] the third family', 'cine-1-pro', 9, 11],
    ['[C8.2] a model without a profile', 'open-canvas', 3, 5],
  ])('%s is created with its interval: %s', async (_family, model, minSeconds, maxSeconds) => {
    expect((await bench.created({ model })).video.polling).toMatchObject({ minSeconds, maxSeconds });
  });

  test('[C8.2] several watchers of one task, and retries, never poll it sooner than the minimum', async () => {
    const { video } = await bench.created();
    const tick = () =>
      bench.run('media.pollVideos', {
        account: bench.account,
        budgetMs: 300,
        minIntervalMs: 60_000,
        byModel: [{ model: video.model, ids: [video.taskId], seen: [''] }],
      });
    await Promise.all([tick(), tick(), tick()]);
    for (let retry = 0; retry < 2; retry++)
      expect((await tick()).answers).toEqual([{ index: 0, error: 'late', unsent: true }]);
    expect(await bench.seen('poll')).toHaveLength(1);
  });

  test.each([
    ['a service that fails', { type: 'status', status: 500 }],
    ['a service that is busy', { type: 'status', status: 429 }],
    ['a service that asks to wait', { type: 'status', status: 503, headers: { 'retry-after': '30' } }],
    ['a line that breaks', { type: 'lose_reply', accepted: false, how: 'close' }],
    ['a line that breaks in the middle', { type: 'cut_body', afterBytes: 500, how: 'close' }],
    ['content that never comes', { type: 'not_ready' }],
    ['a page', { type: 'html_page' }],
    ['a broken file', { type: 'truncate', bytes: 2_000 }],
    ['a refused key', { type: 'status', status: 401 }],
  ] as const)('[C8.6] downloads end, in number and time, with %s', async (_what, action) => {
    const video = await completed();
    await bench.fault('content', action, { times: 0 });
    const { result, tries } = await bench.download(video);
    expect(result).toMatchObject({ outcome: 'content_unavailable', tries: tries.length + 1 });
    expect(tries.length).toBeLessThan(DOWNLOAD_BOUNDS.livingTries);
    // A try after a cut body may find its kept connection closed, which is no connection at all.
    const isAway = ['status', 'lose_reply', 'cut_body'].includes(action.type);
    if (!isAway) expect(tries.length).toBeLessThan(DOWNLOAD_BOUNDS.maxTries);
    expect(await bench.seen('content')).toHaveLength(tries.length + 1);
  });

  test('[C8.6] the results of an image that are refused are not asked for for ever', async () => {
    await bench.fault('generated', { type: 'status', status: 403 }, { times: 0 });
    expect(await bench.generate({})).toMatchObject({ outcome: 'results_lost', reason: 'http_403' });
    expect(await bench.seen('generated')).toHaveLength(1);
    expect((await bench.admin.counters()).images).toMatchObject({ received: 1, accepted: 1 });
  });

  /** Retry-After in both of its forms, made when it is needed. */
  const forms: [string, () => string][] = [
    ['seconds', () => '120'],
    ['an HTTP date', () => new Date(Date.now() + 121_000).toUTCString()],
  ];

  test.each(forms)(
    '[C8.7] Retry-After as %s is a lower bound for creates, images, polls and downloads',
    async (_form, of) => {
      const video = await completed();
      const busy = () => ({ type: 'status', status: 503, headers: { 'retry-after': of() } }) as const;
      const before = Date.now();
      for (const operation of ['create', 'generate', 'poll', 'content'] as const)
        await bench.fault(operation, busy());
      const created = await bench.create({});
      expect(created.outcome).toBe('refused_for_now');
      expect(Date.parse((created as { notBefore: string }).notBefore)).toBeGreaterThanOrEqual(
        before + 119_000,
      );
      const image = await bench.generate({}).catch((error: unknown) => laterTry(error));
      expect(Date.now() + (image as { delayMs: number }).delayMs).toBeGreaterThanOrEqual(before + 119_000);
      const polled = await bench.poll(video);
      expect(Date.now() + (polled as { retryAfterMs: number }).retryAfterMs).toBeGreaterThanOrEqual(
        before + 119_000,
      );
      const { result, tries } = await bench.download(video);
      expect(result.outcome).toBe('downloaded');
      expect(tries).toHaveLength(1);
      expect(Date.now() + tries[0]!.delayMs!).toBeGreaterThanOrEqual(before + 119_000);
    },
  );

  test('[C8.7] [C8.6] a Retry-After that fits no bound is told and never cut short', async () => {
    const video = await completed();
    const headers = { 'retry-after': '86400' };
    const longer = { 'retry-after': '90000' };
    await bench.fault('content', { type: 'status', status: 503, headers: longer }, { times: 0 });
    const { result, tries } = await bench.download(video);
    expect(result).toMatchObject({ outcome: 'content_unavailable', reason: 'not_ready' });
    expect(tries).toEqual([]);
    expect(await bench.seen('content')).toHaveLength(1);
    await bench.fault('generate', { type: 'status', status: 429, headers });
    const before = Date.now();
    const image = await bench.generate({});
    expect(image).toMatchObject({ outcome: 'rejected', reason: 'retry_later', sends: 1 });
    expect(Date.parse((image as { notBefore: string }).notBefore)).toBeGreaterThanOrEqual(
      before + 86_400_000,
    );
    await bench.fault('generated', { type: 'status', status: 503, headers });
    expect(await bench.generate({})).toMatchObject({ outcome: 'results_lost', reason: 'http_503' });
    expect(await bench.seen('generated')).toHaveLength(1);
  });

  test('[C8.7] [C7.4] a 429 with Retry-After closes its model for every task, and only that one', async () => {
    const [one, two] = [await bench.created(), await bench.created()];
    const other = await bench.created({ model: 'sketch-lite' });
    await bench.fault('poll', { type: 'status', status: 429, headers: { 'retry-after': '60' } });
    expect(await bench.poll(one.video)).toMatchObject({ error: 'rate_limited', retryAfterMs: 60_000 });
    for (const { video } of [one, two])
      expect(await bench.poll(video)).toMatchObject({ error: 'rate_limited', unsent: true });
    expect(await bench.poll(other.video)).toMatchObject({ record: { phase: 'completed' } });
    expect(await bench.seen('poll')).toHaveLength(2);
  });
});

test('[C8.8] what the contract does not limit is not limited by us: durations, sizes, n, prompts, files and references', async () => {
  const models: ModelEntry[] = [
    {
      id: 'boundless',
      kind: 'video',
      references: [{ kind: 'image', field: 'reference_images', shape: 'array', form: 'url' }],
    },
    { id: 'boundless-image', kind: 'image', edit: { fields: ['n'] } },
  ];
  const bench = await openBench({ models });
  try {
    const references = Array.from({ length: 200 }, (_, index) => ({
      kind: 'image' as const,
      source: { url: `https://pictures.example/${index}.png` },
    }));
    const prompt = 'a very long story '.repeat(4_000);
    await bench.create({
      model: 'boundless',
      prompt,
      durationSeconds: 86_400,
      references,
      resolution: '64K',
    });
    const large = Buffer.concat([makePng(2, 2), Buffer.alloc(3_000_000)]);
    const images = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => ({ file: await bench.input(`${index}.png`, large) })),
    );
    await bench.generate({ model: 'boundless-image', prompt, size: '123456x654321', n: 5_000 });
    await bench.edit({ model: 'boundless-image', images, n: 1_000 });
    const [create, generation, edit] = await bench.seen();
    expect(create?.json).toMatchObject({ seconds: 86_400, resolution: '64K' });
    expect((create?.json as { reference_images: unknown[] }).reference_images).toHaveLength(200);
    expect(create?.bodyBytes).toBeGreaterThan(prompt.length);
    expect(generation?.json).toMatchObject({ size: '123456x654321', n: 5_000 });
    expect(edit?.parts?.filter(({ kind }) => kind === 'file')).toHaveLength(20);
    expect(edit?.parts?.at(-1)?.bytes).toBe(large.length);
  } finally {
    await bench.close();
  }
});
