import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ResultRecord } from '../../packages/report/src/page-rows';
import { writeReport } from '../../packages/report/src/write-report';
import { makeMp4, makePng } from '../stores/artifacts/make-media';
import { at, factsOf, makeResult, planOf, putPlan, putSegments, resultsRef } from './make-campaign';
import { filesOf, reportPlace, type ReportPlace } from './report-place';

const mediaOf = async (out: string): Promise<string[]> =>
  Object.keys(await filesOf(out)).filter((name) => name.startsWith('media/'));

describe('the media of a report', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
  });
  afterEach(() => place.remove());

  const text = (name: string): Promise<string> => readFile(join(place.out, name), 'utf8');
  const recordsOf = async (out: string): Promise<ResultRecord[]> =>
    (await readFile(join(out, 'results.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ResultRecord);
  const records = (): Promise<ResultRecord[]> => recordsOf(place.out);

  test('keys that differ in nothing but their case, and paths in keys', async () => {
    const { store, out } = place;
    const artifacts = [await store.putBuffer(await makeMp4(), { mediaType: 'video/mp4' })];
    const keys = ['boat', 'Boat', '../../boat', 'a/b', 'a:b', 'con', 'x'.repeat(128), 'ü 🚤', '.hidden'];
    const results = keys.map((key, row) => makeResult(row, { key, artifacts }));
    for (const part of [results.slice(0, 1), results])
      await writeReport({
        store,
        out,
        results: resultsRef(await putSegments(store, part)),
        facts: factsOf(part),
      });
    const paths = (await records()).map(({ files }) => files[0]?.path ?? '');
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(keys.length);
    for (const path of paths) expect(path).toMatch(/^media\/[A-Za-z0-9_][A-Za-z0-9._~-]{0,120}\.mp4$/);
    expect(await mediaOf(out)).toEqual(paths.sort());
  });

  test('a file that somebody else put there is left alone', async () => {
    const { store, out } = place;
    const artifacts = [await store.putBuffer(await makeMp4(), { mediaType: 'video/mp4' })];
    const first = [makeResult(0)];
    await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, first)),
      facts: factsOf(first),
    });
    await mkdir(join(out, 'media'), { recursive: true });
    await writeFile(join(out, 'media/shot-1.mp4'), 'mine');
    const second = [makeResult(1, { artifacts })];
    await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, second)),
      facts: factsOf(second),
    });
    expect(await text('media/shot-1.mp4')).toBe('mine');
    expect((await records())[1]?.files[0]?.path).toBe(
      `media/shot-1~${artifacts[0]?.sha256.slice(0, 12)}.mp4`,
    );
  });

  test('up to 1,000 rows media lie in one folder, of more in a folder for each page', async () => {
    const { store } = place;
    const image = await store.putBuffer(makePng(8, 8), { mediaType: 'image/png' });
    const results = [makeResult(0, { artifacts: [image] }), makeResult(999, { artifacts: [image, image] })];
    const plan = await putPlan(store, 1, () => 'x');
    for (const [rows, media] of [
      [1_000, ['media/shot-0.png', 'media/shot-999-1.png', 'media/shot-999-2.png']],
      [1_001, ['media/0001/shot-0~0.png', 'media/0005/shot-999~0~1.png', 'media/0005/shot-999~0~2.png']],
    ] as const) {
      const out = join(place.root, `of-${rows}`);
      const facts = factsOf(results, { plan: planOf(plan, rows) });
      await writeReport({ store, out, results: resultsRef(await putSegments(store, results)), facts });
      expect(await mediaOf(out)).toEqual(media);
    }
  });

  test('a folder keeps the way in which its media lie, however its campaign grows or shrinks', async () => {
    const { store } = place;
    const images = await Promise.all(
      [8, 9].map((size) => store.putBuffer(makePng(size, size), { mediaType: 'image/png' })),
    );
    const results = images.map((image, row) => makeResult(row * 500, { artifacts: [image] }));
    const segments = await putSegments(store, results, 1);
    const plan = await putPlan(store, 1, () => 'x');
    for (const [first, then, media] of [
      [1_000, 2_000, ['media/shot-0.png', 'media/shot-500.png']],
      [2_000, 1_000, ['media/0001/shot-0~0.png', 'media/0003/shot-500~0.png']],
    ] as const) {
      const out = join(place.root, `of-${first}`);
      const refresh = (rows: number, known: readonly string[]): Promise<unknown> =>
        writeReport({
          store,
          out,
          results: resultsRef(known),
          facts: factsOf(results, { plan: planOf(plan, rows), asOf: at(rows) }),
        });
      await refresh(first, segments.slice(0, 1));
      await refresh(then, segments);
      expect(await mediaOf(out)).toEqual(media);
      expect((await recordsOf(out)).map(({ files }) => files[0]?.path)).toEqual(media);
      for (const [page, path] of [
        ['page-0001.html', media[0]],
        ['page-0003.html', media[1]],
      ] as const)
        expect(await readFile(join(out, page), 'utf8')).toContain(encodeURI(path));
    }
  });

  test('names that meet in one folder are told apart wherever the rows stand, also where one came first', async () => {
    const { store, out } = place;
    const images = await Promise.all(
      [8, 9, 10].map((size) => store.putBuffer(makePng(size, size), { mediaType: 'image/png' })),
    );
    const [one, two, three] = images;
    if (one === undefined || two === undefined || three === undefined) throw new Error('no images');
    const results = [
      makeResult(0, { key: 'boat', artifacts: [one] }),
      makeResult(1, { key: 'car-1', artifacts: [one] }),
      makeResult(300, { key: 'BOAT', artifacts: [two] }),
      makeResult(700, { key: 'car', artifacts: [two, three] }),
    ];
    const segments = await putSegments(store, results, 1);
    for (const known of [segments.slice(0, 2), segments])
      await writeReport({ store, out, results: resultsRef(known), facts: factsOf(results) });
    const files = (await records()).flatMap((record) => record.files);
    const paths = files.map(({ path }) => path ?? '');
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(5);
    expect(await mediaOf(out)).toEqual([...paths].sort());
    for (const { path, sha256 } of files) expect((await filesOf(out))[path ?? '']).toBe(sha256);
    expect(await text('page-0001.html')).toContain(encodeURIComponent(paths[0]?.split('/')[1] ?? ''));
    const other = join(place.root, 'at-once');
    await writeReport({ store, out: other, results: resultsRef(segments), facts: factsOf(results) });
    expect(await filesOf(other)).toEqual(await filesOf(out));
  });

  test('the newest result of a row has its name; what it replaces is kept beside it', async () => {
    const { store, out } = place;
    const images = await Promise.all(
      [8, 9].map((size) => store.putBuffer(makePng(size, size), { mediaType: 'image/png' })),
    );
    const [old, now] = images;
    if (old === undefined || now === undefined) throw new Error('no images');
    const results = [
      makeResult(0, { artifacts: [old] }),
      makeResult(0, { artifacts: [now], generation: 1, attempt: 1 }),
    ];
    const segments = await putSegments(store, results, 1);
    for (const known of [segments.slice(0, 1), segments, segments])
      await writeReport({
        store,
        out,
        results: resultsRef(known, { generation: known.length - 1 }),
        facts: factsOf(results),
      });
    const aside = `media/shot-0~${old.sha256.slice(0, 12)}.png`;
    const files = await filesOf(out);
    expect([files['media/shot-0.png'], files[aside]]).toEqual([now.sha256, old.sha256]);
    expect(await mediaOf(out)).toEqual(['media/shot-0.png', aside]);
    expect((await records()).map((record) => record.files[0]?.path)).toEqual(['media/shot-0.png']);
  });
});
