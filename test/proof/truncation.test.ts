import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeVideo } from '../../packages/sandbox/src/render-video';
import { checkVideo, type VideoCheck } from '../../src/stores/artifacts/video-check';
import { DownloadHarness } from '../activities/download-harness';
import { proved, sized } from '../support/proof';
import { splicedFrom } from './good-files/spliced';
import { allBoxes, whatIsLeft } from './truncation/boxes';
import { damagesOf } from './truncation/damages';

const GOOD = join(__dirname, '..', 'fixtures', 'good-media');
/** At least this many places are tried in all. */
const CUTS = 1000;
/** How deep the boxes lie at whose borders every good file is cut; those of the sandbox are cut at all of them. */
const DEPTH = sized({ change: 1, deep: Infinity });

const counts = {
  files: 0,
  cuts: 0,
  borders: 0,
  padding: 0,
  fragments: 0,
  damages: 0,
  warned: 0,
  http: 0,
  accepted: 0,
  others: 0,
};
let folder: string;
let sandboxVideo: Buffer;
let sources: Map<string, Buffer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truncation-'));
  const spec = {
    kind: 'video',
    model: 'm',
    prompt: 'p',
    seconds: 1,
    resolution: '480p',
    aspectRatio: '1:1',
  } as const;
  sandboxVideo = await encodeVideo(spec);
  sources = new Map(
    splicedFrom(sandboxVideo)
      .filter(([name]) => !name.includes('to the end'))
      .map(([name, bytes]) => [`sandbox, ${name}`, bytes]),
  );
  for (const name of (await readdir(GOOD)).filter((name) => /\.(mp4|m4v|3g[p2]|ismv)$/.test(name)))
    sources.set(name, await readFile(join(GOOD, name)));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  proved('truncation', {
    'good files cut': counts.files,
    'cuts that break a file': counts.cuts,
    'of them at or beside a box border': counts.borders,
    'cuts of QuickTime and WebM that say how long they are': counts.others,
    'cuts over HTTP': counts.http,
    'files with one number changed': counts.damages,
    'of them kept with a warning, because players may read them': counts.warned,
    'cuts that lose padding alone': counts.padding,
    'cuts exactly between two fragments, where a shorter file is whole': counts.fragments,
    'broken files accepted': counts.accepted,
  });
});

/** Counted before it is expected: what is told at the end holds for a failure too. */
function refused(what: unknown, check: VideoCheck): void {
  if (check.ok) counts.accepted += 1;
  expect({ what, check }).toMatchObject({
    what,
    check: { ok: false, reason: expect.stringMatching(/^(incomplete_file|not_video)$/) as string },
  });
}

/** Box borders with their neighbours, and places spread evenly. */
function placesIn(bytes: Buffer, spread: number, depth: number): { cut: number; border: boolean }[] {
  const borders = new Set(
    allBoxes(bytes)
      .filter(({ path }) => path.split('/').length <= depth)
      .flatMap(({ start, body, end }) => [start, body, end].flatMap((at) => [at - 1, at, at + 1])),
  );
  const cuts = new Set(borders);
  for (let index = 1; index <= spread; index++) cuts.add(Math.floor((bytes.length * index) / (spread + 1)));
  return [...cuts]
    .filter((cut) => cut > 0 && cut < bytes.length)
    .sort((a, b) => b - a)
    .map((cut) => ({ cut, border: borders.has(cut) }));
}

it('[C4.3] a good file that is cut anywhere is refused', async () => {
  const spread = Math.ceil(CUTS / sources.size);
  for (const [name, bytes] of sources) {
    counts.files += 1;
    const path = join(folder, 'cut.mp4');
    await writeFile(path, bytes);
    expect(await checkVideo(path)).toMatchObject({ ok: true });
    // From long to short: one file is written and gets shorter.
    for (const { cut, border } of placesIn(bytes, spread, name.startsWith('sandbox') ? Infinity : DEPTH)) {
      const left = whatIsLeft(bytes, cut);
      if (left === 'whole') {
        counts.padding += 1;
        await truncate(path, cut);
        expect({ name, cut, check: await checkVideo(path) }).toMatchObject({
          name,
          cut,
          check: { ok: true },
        });
      }
      if (left === 'shorter') counts.fragments += 1;
      if (left !== 'broken') continue;
      await truncate(path, cut);
      refused({ name, cut }, await checkVideo(path));
      counts.cuts += 1;
      if (border) counts.borders += 1;
    }
  }
  expect(counts.cuts).toBeGreaterThanOrEqual(CUTS);
});

it('[C4.3] QuickTime and WebM are refused where they say themselves that they are cut', async () => {
  const names = (await readdir(GOOD)).filter((name) => /\.(mov|webm)$/.test(name));
  // Made for a stream: nobody knew how long they would be.
  const known = names.filter((name) => !/live|streaming|streamable|append-only/.test(name));
  for (const name of known) {
    const bytes = await readFile(join(GOOD, name));
    const path = join(folder, 'other');
    await writeFile(path, bytes);
    const warnings = name.endsWith('.mov') ? [] : [expect.any(String)];
    expect(await checkVideo(path)).toMatchObject({ ok: true, warnings });
    for (const part of [0.99, 0.9, 0.7, 0.5, 0.3]) {
      await truncate(path, Math.floor(bytes.length * part));
      refused({ name, part }, await checkVideo(path));
      counts.others += 1;
    }
  }
});

it('[C4.3] a good file with one size or one table entry changed is refused, or kept with a warning where all samples may be there', async () => {
  const path = join(folder, 'damaged.mp4');
  for (const name of [
    'sandbox, moov first',
    'sandbox, moov last',
    'ffmpeg-h264-aac-faststart.mp4',
    'gstreamer-h264-moov-last.mp4',
  ])
    for (const damage of damagesOf(sources.get(name)!)) {
      await writeFile(path, damage.bytes);
      const check = await checkVideo(path);
      counts.damages += 1;
      if (check.ok && check.warnings.length > 0) counts.warned += 1;
      else refused({ name, damage: damage.name }, check);
    }
});

describe('over HTTP', () => {
  let harness: DownloadHarness;
  beforeEach(async () => {
    harness = await DownloadHarness.open();
    harness.bounds = { maxTries: 3, livingTries: 3, maxSameFault: 2 };
  });
  afterEach(() => harness.close());

  type Way = (bytes: Buffer, cut: number) => readonly [headers: object, sent: Buffer];
  const WAYS: Readonly<Record<string, Way>> = {
    'a length that fits the cut': (bytes: Buffer, cut: number) => [
      { 'content-length': cut },
      bytes.subarray(0, cut),
    ],
    'no length, closed at the cut': (bytes: Buffer, cut: number) => [
      { connection: 'close' },
      bytes.subarray(0, cut),
    ],
    'the length of the whole': (bytes: Buffer, cut: number) => [
      { 'content-length': bytes.length },
      bytes.subarray(0, cut),
    ],
    'a length shorter than the body': (bytes: Buffer, cut: number) => [{ 'content-length': cut }, bytes],
  };

  it.each(Object.keys(WAYS))('[C4.3] %s: a cut file never gets a final name', async (way) => {
    const cases = [
      'sandbox, moov first',
      'sandbox, moov last',
      'ffmpeg-h264-aac-faststart.mp4',
      'mediabunny-h264-moov-last.mp4',
    ].map((name) => sources.get(name)!);
    for (const bytes of cases)
      for (const cut of [70, 600, Math.floor(bytes.length / 2), bytes.length - 1]) {
        expect(whatIsLeft(bytes, cut)).toBe('broken');
        const [headers, sent] = WAYS[way]!(bytes, cut);
        harness.content = (_request, response) => {
          // Written by hand: the server itself would refuse a length that does not fit.
          const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}\r\n`);
          response.socket!.end(
            Buffer.concat([
              Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\n${lines.join('')}\r\n`),
              sent,
            ]),
          );
        };
        harness.heartbeats.length = 0;
        const { result } = await harness.run();
        const final = await readdir(join(harness.root, 'sha256')).catch(() => []);
        if (result.outcome === 'downloaded' || final.length > 0) counts.accepted += 1;
        expect({ way, cut, result, final }).toMatchObject({
          result: { outcome: 'content_unavailable' },
          final: [],
        });
        counts.http += 1;
      }
    expect(await harness.parts()).toEqual([]);
  });

  it('[C4.3] a cut between two fragments is seen by the length that the service told', async () => {
    const bytes = sources.get('ffmpeg-h264-fragmented.mp4')!;
    const cut = allBoxes(bytes)
      .map(({ end }) => end)
      .find((end) => whatIsLeft(bytes, end) === 'shorter')!;
    const lengths = [`content-length: ${bytes.length}`, `content-range: bytes 0-${cut - 1}/${bytes.length}`];
    for (const field of lengths) {
      harness.heartbeats.length = 0;
      const line = field.startsWith('content-range') ? '206 Partial Content' : '200 OK';
      harness.content = (_request, response) => {
        const head = `HTTP/1.1 ${line}\r\ncontent-type: video/mp4\r\n${field}\r\n\r\n`;
        response.socket!.end(Buffer.concat([Buffer.from(head), bytes.subarray(0, cut)]));
      };
      expect((await harness.run()).result).toMatchObject({ outcome: 'content_unavailable' });
      counts.http += 1;
    }
  });
});
