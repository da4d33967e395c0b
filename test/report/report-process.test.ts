import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { type ReportOptions, type ReportSummary } from '../../packages/report/src/report-options';
import { makePng } from '../stores/artifacts/make-media';
import { factsOf, makeResult, planOf, putPlan, putSegments, resultsRef } from './make-campaign';
import { filesOf, reportPlace, type ReportPlace } from './report-place';

/** Of the report whose memory is limited. */
const ROWS = 12_000;
const CHILD = join(__dirname, 'report-child.js');

describe('a report in a process of its own', () => {
  let place: ReportPlace;
  beforeEach(async () => {
    place = await reportPlace();
  });
  afterEach(() => place.remove());

  const optionsFile = async (options: Omit<ReportOptions, 'store' | 'out'>): Promise<string> => {
    const file = join(place.root, 'options.json');
    await writeFile(file, JSON.stringify({ ...options, store: join(place.root, 'store'), out: place.out }));
    return file;
  };

  test('killed at any moment: nothing has its name half, and the next refresh makes all up', async () => {
    const { store } = place;
    const images = await Promise.all(
      [8, 16, 24].map((size) => store.putBuffer(makePng(size, size), { mediaType: 'image/png' })),
    );
    const known = new Set(images.map(({ sha256 }) => sha256));
    const results = Array.from({ length: 1_000 }, (_, row) =>
      makeResult(row, row % 5 === 0 ? { artifacts: images.slice(row % 3, (row % 3) + 1) } : {}),
    );
    const plan = await putPlan(store, 1_000, (row) => `prompt ${row}`);
    const options = {
      results: resultsRef(await putSegments(store, results, 40)),
      facts: factsOf(results, { plan: planOf(plan, 1_000) }),
    };
    const file = await optionsFile(options);
    let killed = 0;
    // Before and while rows are put into pages, after each page, while the tables are written.
    for (const { after, wait } of [
      { after: 'started', wait: 0 },
      { after: 'started', wait: 15 },
      { after: 'started', wait: 40 },
      { after: 'started', wait: 90 },
      { after: 'page 1', wait: 0 },
      { after: 'page 2', wait: 5 },
      { after: 'page 4', wait: 0 },
      { after: 'page 5', wait: 0 },
      { after: 'page 5', wait: 10 },
    ]) {
      if (await killAfter(file, after, wait)) killed += 1;
      await expectWhole(place.out, known);
    }
    expect(killed).toBeGreaterThan(3);
    const summary = await runToEnd(file);
    expect(summary).toMatchObject({ rows: 1_000, pages: 5, filesMissing: 0 });
    const files = await filesOf(place.out);
    const straight = join(place.root, 'straight');
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace(JSON.stringify(place.out), JSON.stringify(straight)),
    );
    await runToEnd(file);
    expect(files).toEqual(await filesOf(straight));
  });

  test('memory does not grow with the rows', async () => {
    const plan = await putPlan(place.store, ROWS, (row) => `prompt ${row} ${'and so on '.repeat(300)}`);
    const results = Array.from({ length: ROWS }, (_, row) => makeResult(row));
    const file = await optionsFile({
      results: resultsRef(await putSegments(place.store, results)),
      facts: factsOf(results, { plan: planOf(plan, ROWS) }),
    });
    // Their results, cards and prompts of 3,000 characters are more than 100 MB.
    const summary = await runToEnd(file, ['--max-old-space-size=80']);
    expect(summary).toMatchObject({ rows: ROWS, pages: ROWS / 200 });
  });
});

/** @returns whether the process was still at work */
function killAfter(file: string, line: string, waitMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(`${line}\n`)) setTimeout(() => child.kill('SIGKILL'), waitMs);
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => resolve(signal === 'SIGKILL'));
  });
}

function runToEnd(file: string, flags: readonly string[] = []): Promise<ReportSummary> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, CHILD, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      code === 0
        ? resolve(JSON.parse(text.trim().split('\n').at(-1) ?? '') as ReportSummary)
        : reject(new Error(`ended with ${code ?? signal}`)),
    );
  });
}

/** Whatever has a final name is complete. */
async function expectWhole(out: string, media: ReadonlySet<string>): Promise<void> {
  for (const name of Object.keys(await filesOf(out).catch(() => ({})))) {
    if (/\.[0-9a-f]{12}\.part$/.test(name)) continue;
    const bytes = await readFile(join(out, name));
    const text = bytes.toString('utf8');
    if (name.endsWith('.png')) expect(media).toContain(createHash('sha256').update(bytes).digest('hex'));
    else if (name.endsWith('.html')) expect(text).toMatch(/<\/html>\n$/);
    else if (name.endsWith('.js')) expect(() => new Script(text)).not.toThrow();
    else if (name.endsWith('.json')) expect(() => JSON.parse(text) as unknown).not.toThrow();
    else if (name.endsWith('.jsonl'))
      for (const line of text.split('\n').slice(0, -1))
        expect(() => JSON.parse(line) as unknown).not.toThrow();
    if (/results\.(csv|jsonl)$/.test(name)) expect(text.split('\n').length).toBeGreaterThan(1_000);
  }
}
