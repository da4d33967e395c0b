import { join } from 'node:path';
import { type ModelEntry } from '../../src/domain/model-config';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, digest, openBench } from './contract-bench';

/** Contract 2.4 over the wire. */
describe('an image edit', () => {
  let bench: ContractBench;
  let files: string[];
  const pngs = [makePng(9, 9), makePng(1, 1), makePng(5, 5), makePng(3, 3)];

  beforeAll(async () => {
    bench = await openBench();
    // Names whose alphabetical order is not the caller's.
    const names = ['d holiday (1).png', 'a.png', 'Zoë;x=".png', 'b.png'];
    files = await Promise.all(names.map((name, index) => bench.input(name, pngs[index]!)));
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const images = (count: number) => files.slice(0, count).map((file) => ({ file }));
  const lastParts = async () => (await bench.seen('edit')).at(-1)?.parts ?? [];

  test('[C2.4.1] [C4.5] is multipart/form-data with model and prompt as text parts, before the files', async () => {
    expect(await bench.edit({ images: images(1) })).toMatchObject({ outcome: 'completed' });
    const [request] = await bench.seen('edit');
    expect(request).toMatchObject({ method: 'POST', path: '/v1/images/edits', accepted: true });
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.parts?.map(({ name, kind, value }) => [name, kind, value])).toEqual([
      ['model', 'field', 'image-2'],
      ['prompt', 'field', 'the same at night'],
      ['image', 'file', undefined],
    ]);
  });

  test('[C2.4.2] a single file goes as one image part with its own bytes', async () => {
    await bench.edit({ images: images(1) });
    const parts = (await lastParts()).filter(({ kind }) => kind === 'file');
    expect(parts).toMatchObject([
      { name: 'image', bytes: pngs[0]!.length, sha256: digest(pngs[0]!), contentType: 'image/png' },
    ]);
  });

  test("[C2.4.3] several files go as repeated image[] parts in the caller's order", async () => {
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 1, 0],
    ]) {
      await bench.edit({ images: order.map((index) => ({ file: files[index]! })) });
      const sent = (await lastParts()).filter(({ kind }) => kind === 'file');
      expect(sent.map(({ name, sha256 }) => [name, sha256])).toEqual(
        order.map((index) => ['image[]', digest(pngs[index]!)]),
      );
    }
  });

  test('[C2.4.4] without a file nothing is sent, and image and image[] never meet', async () => {
    for (const none of [[], undefined])
      expect(await bench.edit({ images: none as never })).toMatchObject({
        outcome: 'rejected',
        field: 'images',
        sends: 0,
      });
    for (const raw of ['image', 'image[]', 'mask'])
      expect(await bench.edit({ images: images(1), fields: { [raw]: 'x' } })).toMatchObject({
        outcome: 'rejected',
        field: `fields.${raw}`,
      });
    expect(await bench.seen()).toEqual([]);
    for (const count of [1, 2, 4]) {
      await bench.edit({ images: images(count) });
      const names = new Set(
        (await lastParts()).filter(({ kind }) => kind === 'file').map(({ name }) => name),
      );
      expect([...names]).toEqual([count === 1 ? 'image' : 'image[]']);
    }
  });

  test('[C2.4.5] a mask goes only where the configuration lists mask editing', async () => {
    const mask = { file: files[1]! };
    await bench.edit({ images: images(1), mask });
    expect((await lastParts()).at(-1)).toMatchObject({ name: 'mask', sha256: digest(pngs[1]!) });
    const refused = await bench.edit({ model: 'image-2 4K', images: images(1), mask });
    expect(refused).toMatchObject({ outcome: 'rejected', field: 'mask', sends: 0 });
    expect(await bench.seen('edit')).toHaveLength(1);
  });

  test('[C2.4.6] [C5.4c] files travel as uploads under neutral names; no path and no name of theirs is sent', async () => {
    await bench.edit({ images: images(3), mask: { file: files[3]! } });
    const parts = await lastParts();
    expect(parts.filter(({ kind }) => kind === 'file').map(({ filename }) => filename)).toEqual([
      'image-1.png',
      'image-2.png',
      'image-3.png',
      'mask.png',
    ]);
    expect(JSON.stringify(await bench.seen())).not.toMatch(/holiday|Zoë/);
    expect(JSON.stringify(await bench.seen())).not.toContain(bench.root);
    const paths = [
      await bench.edit({ images: [{ url: files[0]! }] }),
      await bench.edit({ images: [{ file: '/etc/passwd' }] }),
      await bench.edit({ images: [{ file: join(files[0]!, '..', '..', 'models.json') }] }),
      await bench.edit({ images: images(1), fields: { style: files[0]! } }),
    ];
    expect(paths.map(({ outcome }) => outcome)).toEqual(Array(4).fill('rejected'));
    for (const refused of paths) expect(JSON.stringify(refused)).not.toContain(bench.root);
    expect(await bench.seen('edit')).toHaveLength(1);
  });

  test('[C2.4.7] size, quality, n and response_format go only where the configuration lists them for edits', async () => {
    await bench.edit({ images: images(1), size: '512x512', n: 2, responseFormat: 'b64_json' });
    expect((await lastParts()).filter(({ kind }) => kind === 'field').map(({ name }) => name)).toEqual([
      'model',
      'prompt',
      'size',
      'n',
      'response_format',
    ]);
    const refused = [
      await bench.edit({ images: images(1), quality: 'high' }),
      await bench.edit({ model: 'image-2 4K', images: images(1), n: 2 }),
      await bench.edit({ model: 'image-2 4K', images: images(1), responseFormat: 'url' }),
    ];
    expect(refused.map((one) => 'field' in one && one.field)).toEqual(['quality', 'n', 'responseFormat']);
    expect(await bench.seen('edit')).toHaveLength(1);
  });
});

test('[C2.4.5] [C2.4.7] an edit with a model that lists nothing carries model, prompt and files only', async () => {
  const models: ModelEntry[] = [{ id: 'image-2', kind: 'image' }];
  const bench = await openBench({ models });
  try {
    const image = { file: await bench.input('a.png', makePng(2, 2)) };
    for (const field of [{ size: '512x512' }, { n: 1 }, { mask: image }])
      expect(await bench.edit({ images: [image], ...field })).toMatchObject({
        outcome: 'rejected',
        field: Object.keys(field)[0],
      });
    await bench.edit({ images: [image] });
    const [request, ...others] = await bench.seen('edit');
    expect(others).toEqual([]);
    expect(request?.parts?.map(({ name }) => name)).toEqual(['model', 'prompt', 'image']);
  } finally {
    await bench.close();
  }
});
