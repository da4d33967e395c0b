import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeReport } from '../../packages/report/src/write-report';
import { zipReport } from '../../packages/report/src/zip-report';
import { makeMp4 } from '../stores/artifacts/make-media';
import { factsOf, makeResult, planOf, putPlan, putSegments, resultsRef } from './make-campaign';
import { filesOf, reportPlace, type ReportPlace } from './report-place';

const run = promisify(execFile);

describe('zipReport', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
    const { store, out } = place;
    const artifacts = [await store.putBuffer(await makeMp4(), { mediaType: 'video/mp4' })];
    const results = Array.from({ length: 250 }, (_, row) => makeResult(row, { artifacts }));
    await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, results)),
      facts: factsOf(results, { plan: planOf(await putPlan(store, 250, (row) => `prompt ${row}`), 250) }),
    });
  });
  afterEach(() => place.remove());

  test('unpacked again it is the folder', async () => {
    const file = join(place.root, 'trip.zip');
    const zipped = await zipReport(place.out, file);
    const before = await filesOf(place.out);
    expect(zipped).toMatchObject({ file, entries: Object.keys(before).length });
    await run('python3', ['-m', 'zipfile', '-t', file]);
    await run('python3', ['-m', 'zipfile', '-e', file, join(place.root, 'unpacked')]);
    expect(await filesOf(join(place.root, 'unpacked/trip'))).toEqual(before);
    const { stdout } = await run('python3', [
      '-c',
      'import sys, zipfile, json; print(json.dumps([[e.filename, e.compress_type] for e in zipfile.ZipFile(sys.argv[1]).infolist()]))',
      file,
    ]);
    const entries = JSON.parse(stdout) as [string, number][];
    expect(entries.map(([name]) => name)).toEqual(
      Object.keys(before)
        .map((name) => `trip/${name}`)
        .sort(),
    );
    // Media are stored, texts are deflated.
    for (const [name, method] of entries) expect(method).toBe(name.startsWith('trip/media/') ? 0 : 8);
  });

  test('the same folder gives the same bytes; another file is never replaced unasked', async () => {
    const [one, two] = [join(place.root, 'one.zip'), join(place.out, 'two.zip')];
    await zipReport(place.out, one);
    await zipReport(place.out, two);
    expect((await readFile(one)).equals(await readFile(two))).toBe(true);
    await writeFile(one, 'mine');
    await expect(zipReport(place.out, one)).rejects.toMatchObject({ code: 'file_exists' });
    expect(await readFile(one, 'utf8')).toBe('mine');
    await zipReport(place.out, two, { replace: true });
    expect((await readFile(two)).length).toBeGreaterThan(1_000);
  });
});
