import { type ModelEntry } from '../../src/domain/model-config';
import { type ContractBench, openBench } from './contract-bench';

/** Contract 2.3 over the wire. */
describe('an image generation', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ sandbox: { timing: { runningMs: 0 } } });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const lastBody = async () => (await bench.seen('generate')).at(-1)?.json;

  test('[C2.3.1] [C4.5] has a model and a prompt, and goes as application/json', async () => {
    await bench.generate({});
    const [request] = await bench.seen('generate');
    expect(request).toMatchObject({ method: 'POST', path: '/v1/images/generations', accepted: true });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(request?.json).toEqual({ model: 'image-2', prompt: 'a boat in the fog' });
    for (const wrong of [{ model: '' }, { prompt: '' }, { prompt: ' \t' }, { model: undefined }]) {
      const outcome = await bench.generate(wrong as never);
      expect(outcome).toMatchObject({ outcome: 'rejected', field: Object.keys(wrong)[0], sends: 0 });
    }
    expect(await bench.seen('generate')).toHaveLength(1);
  });

  test('[C2.3.2] a size of the model goes as it is', async () => {
    for (const size of ['512x512', '1536x1024']) {
      await bench.generate({ size });
      expect(await lastBody()).toMatchObject({ size });
    }
  });

  test('[C2.3.3] auto goes only to a model that lists it', async () => {
    await bench.generate({ size: 'auto' });
    expect(await lastBody()).toMatchObject({ size: 'auto' });
    const refused = await bench.generate({ model: 'image-2 4K', size: 'auto' });
    expect(refused).toMatchObject({ outcome: 'rejected', field: 'size' });
    expect(refused).toHaveProperty('allowed', expect.arrayContaining(['3840x2160']));
    expect(await bench.seen('generate')).toHaveLength(1);
  });

  test('[C2.3.4] quality goes only to a model whose configuration allows it', async () => {
    await bench.generate({ quality: 'high' });
    expect(await lastBody()).toMatchObject({ quality: 'high' });
    const refused = [
      await bench.generate({ quality: 'ultra' }),
      await bench.generate({ model: 'image-2 4K', quality: 'high' }),
    ];
    for (const one of refused) expect(one).toMatchObject({ outcome: 'rejected', field: 'quality', sends: 0 });
    expect(refused[0]).toMatchObject({ allowed: ['standard', 'high'] });
    expect(await bench.seen('generate')).toHaveLength(1);
  });

  test('[C2.3.5] n is an integer of at least 1, and 1 result comes when it is not given', async () => {
    for (const n of [0, -1, 1.5, NaN, '2' as unknown as number])
      expect(await bench.generate({ n })).toMatchObject({ outcome: 'rejected', field: 'n' });
    expect(await bench.seen()).toEqual([]);
    const usual = await bench.generate({});
    expect(usual.outcome === 'completed' && usual.images).toHaveLength(1);
    expect(usual).toMatchObject({ warnings: [] });
    expect(await lastBody()).not.toHaveProperty('n');
    const four = await bench.generate({ n: 4 });
    expect(four.outcome === 'completed' && four.images).toHaveLength(4);
    expect(await lastBody()).toMatchObject({ n: 4 });
  });

  test('[C2.3.6] response_format is url or b64_json, and both kinds of reply are read whatever was asked', async () => {
    for (const responseFormat of ['url', 'b64_json'] as const)
      for (const reply of ['url', 'b64'] as const) {
        const outcome = await bench.generate({ prompt: `a boat [result:${reply}]`, responseFormat });
        expect(outcome).toMatchObject({ outcome: 'completed', images: [{ mediaType: 'image/png' }] });
        expect(await lastBody()).toMatchObject({ response_format: responseFormat });
      }
    const wrong = await bench.generate({ responseFormat: 'png' as never });
    expect(wrong).toMatchObject({ outcome: 'rejected', field: 'responseFormat', sends: 0 });
    const unasked = await bench.generate({ prompt: 'a boat [result:b64]' });
    expect(unasked.outcome).toBe('completed');
    expect(await lastBody()).not.toHaveProperty('response_format');
  });
});

describe('image values that only the configuration knows', () => {
  const models: ModelEntry[] = [
    { id: 'image-2', kind: 'image', sizes: ['17x19'], qualities: ['odd'], maxN: 9 },
    { id: 'plain', kind: 'image' },
  ];
  let bench: ContractBench;
  let unconfigured: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ models });
    unconfigured = await openBench({ models: 'none' });
  });
  afterAll(async () => {
    await bench.close();
    await unconfigured.close();
  });

  test('[C2.3.7] [C8.1] what the configuration lists is sent, and what the usual service takes is refused when it is not listed', async () => {
    await bench.generate({ size: '17x19', quality: 'odd', n: 9 });
    expect((await bench.seen())[0]?.json).toMatchObject({ size: '17x19', quality: 'odd', n: 9 });
    expect(await bench.generate({ size: '1024x1024' })).toMatchObject({ field: 'size', allowed: ['17x19'] });
    expect(await bench.generate({ quality: 'high' })).toMatchObject({ field: 'quality', allowed: ['odd'] });
    expect(await bench.generate({ n: 10 })).toMatchObject({ outcome: 'rejected', field: 'n' });
    expect(await bench.seen()).toHaveLength(1);
  });

  test.each([
    '1024×1024',
    '1024X1024',
    '1024 x 1024',
    ' 1024x1024',
    '1024x1024\n',
    '+1024x1024',
    '-1x5',
    '0x1024',
    '01024x1024',
    '1024x',
    'x1024',
    '1024x1024x1',
    '1024',
    '1e3x1e3',
    '1024.0x1024',
    '１０２４x１０２４',
    '١٠٢٤x١٠٢٤',
    '1024х1024',
    'AUTO',
    '',
    'large',
  ])('[C2.3.2] the size %j is refused before anything is sent', async (size) => {
    const seen = (await bench.seen()).length;
    // No list of sizes is in the way: the shape alone decides.
    const outcome = await bench.generate({ model: 'plain', size });
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid_request',
      field: 'size',
      sends: 0,
      billing: { state: 'none' },
    });
    expect(await bench.seen()).toHaveLength(seen);
  });

  test('[C2.3.3] [C2.3.4] [C2.3.6] what no list enables is not sent', async () => {
    for (const where of [bench, unconfigured]) {
      await where.reset().catch(() => undefined);
      const model = 'plain';
      const refused = [
        await where.generate({ model, size: 'auto' }),
        await where.generate({ model, quality: 'high' }),
        await where.generate({ model, responseFormat: 'url' }),
      ];
      expect(refused.map((one) => 'field' in one && one.field)).toEqual([
        'size',
        'quality',
        'responseFormat',
      ]);
      expect(await where.seen()).toEqual([]);
      await where.generate({ model, size: '640x480', n: 2 });
      expect((await where.seen())[0]?.json).toEqual({
        model,
        prompt: 'a boat in the fog',
        size: '640x480',
        n: 2,
      });
    }
  });
});
