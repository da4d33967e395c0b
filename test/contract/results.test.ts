import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type CompletedImage } from '../../src/domain/outcome';
import { type ArtifactRef } from '../../src/domain/request';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, digest, openBench } from './contract-bench';

/** Contract 2.5 over the wire. */
describe('an image response', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ sandbox: { timing: { runningMs: 0 } } });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const pngs = [makePng(2, 2), makePng(3, 3), makePng(4, 4)];
  const bytesOf = async (ref: ArtifactRef) => buffer(await bench.store.read(ref));

  /** The next generation is accepted and answered like this. */
  const replied = (body: unknown) =>
    bench.fault('generate', { type: 'accept_then_status', status: 200, body });

  async function completed(n?: number): Promise<CompletedImage> {
    const outcome = await bench.generate(n === undefined ? {} : { n });
    if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome));
    return outcome;
  }

  test('[C2.5.1] created is a Unix time in seconds and is kept', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { created } = await completed();
    expect(created).toBeGreaterThanOrEqual(before);
    expect(created).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
    await replied({ created: 1_700_000_000, data: [{ b64_json: pngs[0]!.toString('base64') }] });
    expect((await completed()).created).toBe(1_700_000_000);
    for (const odd of [null, 'yesterday', -5, 1.5, undefined]) {
      await replied({ created: odd, data: [{ b64_json: pngs[0]!.toString('base64') }] });
      expect((await completed()).created).toBeNull();
    }
  });

  test('[C2.5.2] each item is one result, in the order of data, whatever kinds are mixed', async () => {
    const data = pngs.map((png, index) =>
      index === 1
        ? { url: `data:image/png;base64,${png.toString('base64')}` }
        : { b64_json: png.toString('base64') },
    );
    await replied({ created: 1, data });
    const { images, warnings } = await completed(3);
    expect(images.map(({ sha256 }) => sha256)).toEqual(pngs.map((png) => digest(png)));
    expect(warnings).toEqual([]);
  });

  test.each([
    ['fewer', 3, 1],
    ['more', 1, 3],
  ])('[C2.5.2] %s results than n are kept and reported', async (_word, n, results) => {
    const outcome = await bench.generate({ prompt: `a boat [results:${results}]`, n });
    if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome));
    expect(outcome.images).toHaveLength(results);
    expect(outcome.warnings.join()).toContain(`${n} results were requested, but ${results} were returned`);
  });

  test('[C2.5.2] no result at all is a paid call that lost its results, and is not sent again', async () => {
    await replied({ created: 1, data: [] });
    const creationKey = 'no-results';
    const lost = {
      outcome: 'results_lost',
      images: [],
      reason: 'no_results',
      billing: { estimate: 40_000, state: 'needs_review' },
    };
    expect(await bench.generate({}, { creationKey })).toMatchObject(lost);
    expect(await bench.generate({}, { creationKey })).toMatchObject(lost);
    expect((await bench.admin.counters()).images).toMatchObject({ received: 1, accepted: 1 });
  });

  test('[C2.5.3] a link below /generated/ is fetched at once, within the call', async () => {
    const { images } = await completed(2);
    const seen = await bench.seen();
    expect(seen.map(({ operation }) => operation)).toEqual(['generate', 'generated', 'generated']);
    for (const { path } of seen.slice(1)) expect(path).toMatch(/^\/generated\//);
    for (const ref of images) expect((await bytesOf(ref)).subarray(1, 4).toString()).toBe('PNG');
    // Nothing of the outcome needs the link any more.
    expect(JSON.stringify(images)).not.toMatch(/https?:/);
  });

  test('[C2.5.4] b64_json is decoded to exactly its bytes, with and without the prefix that does not belong there', async () => {
    const raw = pngs[2]!.toString('base64');
    for (const text of [raw, raw.replace(/.{60}/g, '$&\n'), `data:image/png;base64,${raw}`]) {
      await replied({ created: 1, data: [{ b64_json: text }] });
      const { images } = await completed();
      expect(await bytesOf(images[0]!)).toEqual(pngs[2]);
      expect(await readFile(await bench.store.localPath(images[0]!))).toEqual(pngs[2]);
    }
  });

  test('[C2.5.5] the media type comes from the bytes', async () => {
    const jpeg = Buffer.from(
      '/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==',
      'base64',
    );
    await replied({
      created: 1,
      data: [
        { b64_json: jpeg.toString('base64') },
        { url: `data:image/png;base64,${jpeg.toString('base64')}` },
      ],
    });
    const { images } = await completed(2);
    expect(images.map(({ mediaType }) => mediaType)).toEqual(['image/jpeg', 'image/jpeg']);
  });

  test.each(['json_page', 'html_page'] as const)(
    '[C2.5.5] [C4.3] a %s served as image/png is no image: the results are lost, not stored',
    async (type) => {
      await bench.fault('generated', { type }, { times: 0 });
      expect(await bench.generate({})).toMatchObject({
        outcome: 'results_lost',
        images: [null],
        reason: 'not_image',
      });
      expect((await bench.admin.counters()).images.received).toBe(1);
    },
  );
});
