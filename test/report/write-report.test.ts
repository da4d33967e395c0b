import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ResultRecord } from '../../packages/report/src/page-rows';
import { writeReport } from '../../packages/report/src/write-report';
import { NO_MONEY } from '../../src/domain/campaign/results';
import { makeMp4, makePng } from '../stores/artifacts/make-media';
import { at, factsOf, makeResult, planOf, putIndex, putPlan, putSegments, resultsRef } from './make-campaign';
import { filesOf, reportPlace, type ReportPlace } from './report-place';

const DAY = at(0).slice(0, 10);

describe('writeReport', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
  });
  afterEach(() => place.remove());

  const text = (name: string): Promise<string> => readFile(join(place.out, name), 'utf8');
  const records = async (): Promise<ResultRecord[]> =>
    (await text('results.jsonl'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ResultRecord);

  test('tables, media, summary and gallery of a campaign', async () => {
    const { store, out } = place;
    const bytes = await makeMp4();
    const video = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    const images = await Promise.all(
      [8, 9].map((size) => store.putBuffer(makePng(size, size), { mediaType: 'image/png' })),
    );
    const results = [
      makeResult(2, { operation: 'generate_image', model: 'image-2', artifacts: images, taskId: null }),
      makeResult(0, { artifacts: [video], reported: { durationSeconds: 5, fps: 24 }, usage: { seconds: 5 } }),
      makeResult(1, {
        outcome: 'failed',
        errorKind: 'moderation',
        reason: 'blocked',
        message: 'Not this one.',
      }),
    ];
    const plan = await putPlan(store, 3, (row) => `prompt number ${row}`);
    const summary = await writeReport({
      store,
      out,
      results: resultsRef(await putSegments(store, results)),
      facts: factsOf(results, { plan: planOf(plan, 3), state: 'done', finishedAt: at(99) }),
    });
    expect(summary).toEqual({
      directory: out,
      index: join(out, 'index.html'),
      generation: 0,
      rows: 3,
      pages: 1,
      pagesWritten: 1,
      filesWritten: 3,
      filesMissing: 0,
      newest: true,
    });
    expect(Object.keys(await filesOf(out))).toEqual([
      'assets/gallery.css',
      'assets/gallery.js',
      'data/index.js',
      'data/page-0001.js',
      'index.html',
      'media/shot-0.mp4',
      'media/shot-2-1.png',
      'media/shot-2-2.png',
      'page-0001.html',
      'results.csv',
      'results.jsonl',
      'summary.json',
    ]);
    expect((await readFile(join(out, 'media/shot-0.mp4'))).equals(bytes)).toBe(true);
    const lines = await records();
    expect(lines.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['shot-0', 'completed'],
      ['shot-1', 'failed'],
      ['shot-2', 'completed'],
    ]);
    expect(lines[0]).toMatchObject({
      files: [{ path: 'media/shot-0.mp4', sha256: video.sha256 }],
      money: { ...NO_MONEY, currency: 'USD', settled: 35_000, estimate: 40_000, actual: 35_000, billed: 1 },
      requested: { durationSeconds: 4 },
      reported: { durationSeconds: 5 },
    });
    expect(JSON.parse(await text('summary.json'))).toMatchObject({
      campaign: 'trip',
      state: 'done',
      rows: 3,
      counts: { completed: 2, failed: 1 },
      money: { currency: 'USD', settled: 70_000, needsReview: 40_000, estimate: 120_000, actual: 70_000 },
      moneyByDay: [{ day: DAY, rows: 3, estimate: 120_000, actual: 70_000, billed: 2, needsReview: 40_000 }],
    });
    const index = await text('index.html');
    expect(index).toContain('<summary>Money by day (UTC)</summary>');
    expect(index).toContain(
      `<td><bdi>${DAY}</bdi></td><td>3</td><td>0.12 USD</td><td>0.07 USD</td><td>0.11 USD</td>`,
    );
    const page = await text('page-0001.html');
    expect(page).toContain('prompt number 0');
    expect(page).toContain('0.035 USD <small>settled, estimate 0.04 USD</small>');
    expect(page).toContain('4 s requested, 5 s reported');
    expect(page).toContain('Change the row in the manifest');
    for (const name of ['results.jsonl', 'results.csv', 'summary.json']) {
      expect(await text(name)).not.toContain('prompt number');
      expect(await text(name)).not.toContain('Not this one.');
    }
  });

  test('a refresh writes what is new and nothing else', async () => {
    const { store, out } = place;
    const rows = Array.from({ length: 450 }, (_, row) => makeResult(row));
    const plan = await putPlan(store, 450, (row) => `prompt ${row}`);
    const options = { store, out, facts: factsOf(rows, { plan: planOf(plan, 450) }) };
    const segments = await putSegments(store, rows.slice(0, 440), 100);
    expect(await writeReport({ ...options, results: resultsRef(segments) })).toMatchObject({
      pages: 3,
      pagesWritten: 3,
      rows: 440,
    });
    const stamps = async (): Promise<unknown> =>
      Promise.all(
        Object.keys(await filesOf(out)).map(async (name) => [name, (await stat(join(out, name))).mtimeMs]),
      );
    const before = await stamps();
    expect(await writeReport({ ...options, results: resultsRef(segments) })).toMatchObject({
      pagesWritten: 0,
    });
    expect(await stamps()).toEqual(before);
    // Folded meanwhile: the same rows under another name.
    const folded = resultsRef(await putSegments(store, rows.slice(440)), {
      indexes: [await putIndex(store, segments)],
    });
    expect(await writeReport({ ...options, results: folded })).toMatchObject({ pagesWritten: 1, rows: 450 });
    expect((await records()).map(({ key }) => key)).toEqual(rows.map(({ key }) => key));
  });

  test('a table that somebody saved in a spreadsheet, or deleted, is made anew as a whole', async () => {
    const { store, out } = place;
    const rows = Array.from({ length: 450 }, (_, row) => makeResult(row));
    const segments = await putSegments(store, rows, 150);
    const refresh = (count: number): Promise<unknown> =>
      writeReport({
        store,
        out,
        facts: factsOf(rows, { asOf: at(99) }),
        results: resultsRef(segments.slice(0, count)),
      });
    await refresh(1);
    await refresh(2);
    await refresh(3);
    const before = await filesOf(out);
    await writeFile(join(out, 'results.csv'), 'key;line\nshot-0;2\n');
    await rm(join(out, 'results.jsonl'));
    await refresh(3);
    expect(await filesOf(out)).toEqual(before);
    await rm(out, { recursive: true });
    await refresh(3);
    expect(await filesOf(out)).toEqual(before);
  });

  test('an older time and an older generation never replace a newer', async () => {
    const { store, out } = place;
    const older = makeResult(0, { outcome: 'failed', errorKind: 'capacity' });
    const newer = makeResult(0, { generation: 1, attempt: 1 });
    const first = await putSegments(store, [older]);
    const second = await putSegments(store, [newer]);
    const now = resultsRef([...first, ...second], { generation: 1 });
    await writeReport({ store, out, results: now, facts: factsOf([newer], { asOf: at(20) }) });
    const before = await filesOf(out);
    const summary = await writeReport({
      store,
      out,
      results: resultsRef(first),
      facts: factsOf([older], { asOf: at(30) }),
    });
    expect(summary.newest).toBe(false);
    await writeReport({ store, out, results: now, facts: factsOf([older], { asOf: at(10) }) });
    expect(await filesOf(out)).toEqual(before);
    expect((await records())[0]).toMatchObject({ outcome: 'completed', generation: 1 });
  });

  test('a row that stands elsewhere in a later manifest is there once', async () => {
    const { store, out } = place;
    const results = [makeResult(0), makeResult(1), makeResult(900, { key: 'shot-1', generation: 1 })];
    for (const part of [results.slice(0, 2), results]) {
      const facts = factsOf(part);
      await writeReport({ store, out, results: resultsRef(await putSegments(store, part, 1)), facts });
    }
    expect((await records()).map(({ key, row }) => [key, row])).toEqual([
      ['shot-0', 0],
      ['shot-1', 900],
    ]);
  });

  test('what the store does not have is said, and fetched when it is there', async () => {
    const { store, out } = place;
    const bytes = await makeMp4();
    const elsewhere = await reportPlace();
    const artifacts = [await elsewhere.store.putBuffer(bytes, { mediaType: 'video/mp4' })];
    await elsewhere.remove();
    const rows = [makeResult(0, { artifacts })];
    const options = { store, out, results: resultsRef(await putSegments(store, rows)), facts: factsOf(rows) };
    expect(await writeReport(options)).toMatchObject({ filesMissing: 1 });
    expect(await text('page-0001.html')).toContain(
      'the artifact store behind this report does not have the file',
    );
    await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    expect(await writeReport(options)).toMatchObject({ filesMissing: 0, filesWritten: 1 });
    expect(await text('page-0001.html')).not.toContain('the artifact store');
  });

  test('a folder of somebody else, of another campaign, or in use', async () => {
    const { store, out } = place;
    const options = { store, out, results: resultsRef([]), facts: factsOf([]) };
    await mkdir(out);
    await writeFile(join(out, 'index.html'), 'my page');
    await expect(writeReport(options)).rejects.toMatchObject({ code: 'folder_occupied' });
    expect(await text('index.html')).toBe('my page');
    const other = { ...options, out: join(place.root, 'other') };
    await writeReport(other);
    await expect(writeReport({ ...other, facts: factsOf([], { campaign: 'else' }) })).rejects.toMatchObject({
      code: 'other_campaign',
    });
    const [first, second] = await Promise.allSettled([writeReport(other), writeReport(other)]);
    expect([first, second].filter(({ status }) => status === 'fulfilled')).not.toHaveLength(0);
    for (const one of [first, second])
      if (one?.status === 'rejected') expect(one.reason).toMatchObject({ code: 'busy' });
    await writeFile(join(other.out, '.report', 'campaign.json'), '{"v":1,');
    await expect(writeReport(other)).rejects.toMatchObject({ code: 'unreadable' });
  });
});
