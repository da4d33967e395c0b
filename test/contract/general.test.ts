import { makePng } from '../stores/artifacts/make-media';
import { NOTHING_ANNOUNCED } from '../support/queue-binding';
import { openBench, type ContractBench } from './contract-bench';

/** Contract intro and section 1 over the wire; the base address has a prefix and is pasted with `/v1/`. */
describe('the service as a whole', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({
      sandbox: { pathPrefix: '/proxy/media' },
      baseUrl: (url) => `${url}/v1/`,
    });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  /** Every operation once. */
  async function everything() {
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.poll(video);
    const { result } = await bench.download(video);
    const generated = await bench.generate({});
    if (generated.outcome !== 'completed') throw new Error(JSON.stringify(generated));
    const [artifact] = generated.images;
    const edited = await bench.edit({ images: [{ artifact: artifact! }] });
    return { video, result, generated, edited };
  }

  test('[C0.1] [C1.1] one video is created, polled and downloaded, one image generated and edited, in this order', async () => {
    const { video, result, edited } = await everything();
    expect(result.outcome).toBe('downloaded');
    expect(edited.outcome).toBe('completed');
    const seen = await bench.seen();
    expect(seen.map(({ operation }) => operation)).toEqual([
      'create',
      'poll',
      // The download reads the record for the result's address.
      'poll',
      'content',
      'media',
      'generate',
      'generated',
      'edit',
      'generated',
    ]);
    const ofTask = seen.filter(({ operation }) => ['create', 'poll', 'content'].includes(operation));
    expect(new Set(ofTask.map(({ taskId }) => taskId))).toEqual(new Set([video.taskId]));
    expect(seen.flatMap(({ violations }) => violations)).toEqual([]);
  });

  test('[C0.2] [C9.1] every path keeps the prefix of the base address and has /v1 exactly once', async () => {
    const { video } = await everything();
    const paths = (await bench.seen()).filter(({ origin }) => origin === 'api').map(({ path }) => path);
    expect(new Set(paths.filter((path) => !path.includes('/generated/')))).toEqual(
      new Set([
        '/proxy/media/v1/videos',
        `/proxy/media/v1/videos/${video.taskId}`,
        `/proxy/media/v1/videos/${video.taskId}/content`,
        '/proxy/media/v1/images/generations',
        '/proxy/media/v1/images/edits',
      ]),
    );
    for (const path of paths.filter((one) => one.includes('/generated/')))
      expect(path).toMatch(/^\/proxy\/media\/generated\/[^/]+$/);
  });

  test('[C0.4] nothing but the public paths is asked, and nothing about a channel is said', async () => {
    await everything();
    const seen = await bench.seen();
    expect(seen.filter(({ operation }) => operation === 'unknown')).toEqual([]);
    const own = ['host', 'connection', 'authorization', 'accept', 'accept-encoding', 'user-agent'];
    const body = ['content-type', 'content-length', 'transfer-encoding'];
    for (const { headerNames, query } of seen.filter(({ origin }) => origin === 'api')) {
      expect(headerNames.filter((name) => ![...own, ...body].includes(name))).toEqual([]);
      expect(query).toEqual({});
    }
  });

  test('[C1.2] an image call is one exchange, and its results are links or bytes: it is never polled', async () => {
    for (const responseFormat of ['url', 'b64_json'] as const) {
      await bench.reset();
      expect(await bench.generate({ n: 2, responseFormat })).toMatchObject({ outcome: 'completed' });
      const operations = (await bench.seen()).map(({ operation }) => operation);
      const fetched = responseFormat === 'url' ? ['generated', 'generated'] : [];
      expect(operations).toEqual(['generate', ...fetched]);
    }
  });

  test('[C1.3] [C0.3] both image models work under exactly their own id, and neither stands in for the other', async () => {
    const large = await bench.generate({ model: 'image-2 4K', size: '3840x2160' });
    const small = await bench.generate({ model: 'image-2', size: '512x512' });
    expect([large.outcome, small.outcome]).toEqual(['completed', 'completed']);
    const image = { artifact: (small.outcome === 'completed' ? small.images : [])[0]! };
    await bench.edit({ model: 'image-2 4K', images: [image] });
    const seen = (await bench.seen()).filter(({ operation }) => operation !== 'generated');
    expect(seen.map(({ json, parts }) => (json as { model?: string })?.model ?? parts?.[0]?.value)).toEqual([
      'image-2 4K',
      'image-2',
      'image-2 4K',
    ]);
    const swapped = await bench.generate({ model: 'image-2', size: '3840x2160' });
    expect(swapped).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid_request',
      field: 'size',
      sends: 0,
    });
    expect(await bench.seen('generate')).toHaveLength(2);
  });

  test('[C1.4] image calls have the fields of the widely used images API and no other', async () => {
    const everyField = {
      size: '512x512',
      quality: 'high',
      n: 2,
      responseFormat: 'b64_json',
    } as const;
    await bench.generate(everyField);
    const file = await bench.input('one.png', makePng(4, 4));
    const { quality: _, ...ofEdits } = everyField;
    await bench.edit({ ...ofEdits, images: [{ file }], mask: { file } });
    const [generation, edit] = await bench.seen();
    expect(generation?.json).toEqual({
      model: 'image-2',
      prompt: 'a boat in the fog',
      size: '512x512',
      quality: 'high',
      n: 2,
      response_format: 'b64_json',
    });
    expect(edit?.parts?.map(({ name, value }) => [name, value])).toEqual([
      ['model', 'image-2'],
      ['prompt', 'the same at night'],
      ['size', '512x512'],
      ['n', '2'],
      ['response_format', 'b64_json'],
      ['image', undefined],
      ['mask', undefined],
    ]);
  });

  test('[C1.5] an estimate comes from the published price list, and no price is unknown, never 0', async () => {
    const perSecond = await bench.created({ durationSeconds: 4 });
    const perTask = await bench.created({ model: 'atlas-long' });
    const perSpecification = await bench.created({ model: 'cine-1-pro', resolution: '1080p' });
    const unpriced = await bench.created({ model: 'open-canvas' });
    expect([perSecond, perTask, perSpecification, unpriced].map(({ estimate }) => estimate)).toEqual([
      { microUnits: 200_000, currency: 'USD' },
      { microUnits: 750_000, currency: 'USD' },
      { microUnits: 1_600_000, currency: 'USD' },
      null,
    ]);
  });

  test('[C1.7] more results raise the estimate of an image call', async () => {
    const [one, three] = [await bench.generate({}), await bench.generate({ n: 3 })];
    expect([one.billing.estimate, three.billing.estimate]).toEqual([40_000, 120_000]);
  });

  test('[C1.6] polls change neither the estimate that was kept nor what the service was asked to make', async () => {
    const { video, estimate } = await bench.created({ durationSeconds: 8 });
    for (let poll = 0; poll < 5; poll++) await bench.poll(video);
    const kept = await bench.run('media.findVideoTask', { taskId: video.taskId });
    const standing = await bench.run('media.reconcileCreate', {
      creationKey: kept.creationKey!,
      ...NOTHING_ANNOUNCED,
    });
    expect(standing).toMatchObject({ outcome: 'created', estimate });
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });
});

describe('a service that reports no usage', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ sandbox: { records: 'minimal' } });
  });
  afterAll(() => bench.close());

  test('[C1.9] [C7.10] a call without usage is for review, never free', async () => {
    const image = await bench.generate({});
    expect(image).toMatchObject({
      outcome: 'completed',
      billing: { estimate: 40_000, currency: 'USD', state: 'needs_review' },
    });
    expect(image.billing).not.toHaveProperty('usage');
    const { video } = await bench.created({ durationSeconds: 2 });
    const { result } = await bench.download(video);
    expect(result.outcome).toBe('downloaded');
    expect(result).not.toHaveProperty('usage');
  });
});
