import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createFile, MP4BoxBuffer } from 'mp4box';
import { checkMp4, claimsIn } from '../../src/artifacts/mp4-check';
import { checkVideo } from '../../src/artifacts/video-check';
import { box, makeMp4, topLevel } from './make-media';

let directory: string;
let whole: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mp4-'));
  whole = await makeMp4();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function check(bytes: Uint8Array) {
  const path = join(directory, 'video');
  await writeFile(path, bytes);
  return checkMp4(path);
}

const part = (type: string) => {
  const found = topLevel(whole).find((candidate) => candidate.type === type)!;
  return whole.subarray(found.start, found.end);
};

/** The file with its moov box in front, as servers send it: chunk offsets move by its size. */
function faststart(): Buffer {
  const moov = Buffer.from(part('moov'));
  const at = moov.indexOf('stco') + 8;
  const { start } = topLevel(whole).find(({ type }) => type === 'mdat')!;
  const shift = part('ftyp').length + moov.length - start;
  for (let index = 0; index < moov.readUInt32BE(at); index++) {
    const position = at + 4 + index * 4;
    moov.writeUInt32BE(moov.readUInt32BE(position) + shift, position);
  }
  return Buffer.concat([part('ftyp'), moov, part('mdat')]);
}

/** The same pictures in fragments. */
function fragmented(): Buffer {
  const file = createFile(true);
  const segments: Buffer[] = [];
  file.onSegment = (_id, _user, buffer) => segments.push(Buffer.from(buffer));
  file.onReady = (info) => {
    file.setSegmentOptions(info.videoTracks[0]!.id, undefined, { nbSamples: 5 });
    segments.push(Buffer.from(file.initializeSegmentation().buffer));
    file.start();
  };
  const source = faststart();
  const copy = source.buffer.slice(source.byteOffset, source.byteOffset + source.length) as ArrayBuffer;
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(copy, 0), true);
  file.flush();
  return Buffer.concat(segments);
}

const facts = { durationSeconds: 2, width: 64, height: 48, fps: 10, codec: 'avc1.42000a' };

it('[C4.3] a whole MP4 is video, with the facts of its picture track', async () => {
  expect(await check(whole)).toEqual({ ok: true, ...facts });
  expect(await check(faststart())).toEqual({ ok: true, ...facts });
});

it('[C4.3] a fragmented MP4 is video, and one cut between fragments still counts only what is there', async () => {
  const bytes = fragmented();
  expect(topLevel(bytes).filter(({ type }) => type === 'moof').length).toBeGreaterThan(1);
  expect(await check(bytes)).toMatchObject({ ok: true, durationSeconds: 2, width: 64, height: 48 });
  const last = topLevel(bytes).at(-1)!;
  expect(last.type).toBe('mdat');
  expect(await check(bytes.subarray(0, last.start))).toMatchObject({ ok: false, reason: 'incomplete_file' });
});

it('[C4.3] a file cut at any place is never a whole video', async () => {
  for (const bytes of [whole, faststart()]) {
    const ends = new Set(topLevel(bytes).map(({ end }) => end));
    const cuts = [...ends, 1, 7, 8, 64, ...Array.from({ length: 40 }, (_, index) => index * 1400 + 3)];
    const complete = topLevel(bytes)
      .filter(({ type }) => type !== 'free')
      .at(-1)!.end;
    for (const cut of cuts.filter((cut) => cut < bytes.length)) {
      const result = await check(bytes.subarray(0, cut));
      // Without the padding at its end the video is still whole.
      expect({ cut, ok: result.ok }).toEqual({ cut, ok: cut === complete });
    }
  }
});

it('[C4.3] a faststart file that lost media data and was patched to end cleanly is truncated', async () => {
  const bytes = Buffer.from(faststart());
  const { start } = topLevel(bytes).find(({ type }) => type === 'mdat')!;
  const cut = Buffer.from(bytes.subarray(0, start + 20_000));
  cut.writeUInt32BE(20_000, start);
  const result = await check(cut);
  expect(result).toMatchObject({ ok: false, reason: 'incomplete_file' });
  expect(!result.ok && result.message).toMatch(/^\d+ of 20 samples are not in the file\.$/);
  // A size of 0 means "to the end", which hides the cut from the boxes but not from the samples.
  cut.writeUInt32BE(0, start);
  expect(await check(cut)).toMatchObject({ ok: false, reason: 'incomplete_file' });
});

it('accepts 64-bit sizes and a last box of size 0', async () => {
  const { start } = topLevel(whole).find(({ type }) => type === 'mdat')!;
  const front = faststart();
  const open = Buffer.from(front);
  open.writeUInt32BE(0, topLevel(front).at(-1)!.start);
  expect(await check(open)).toMatchObject({ ok: true });
  const long = box('free', Buffer.alloc(8));
  long.writeUInt32BE(1, 0);
  long.writeBigUInt64BE(16n, 8);
  expect(await check(Buffer.concat([whole, long]))).toMatchObject({ ok: true });
  expect(start).toBeGreaterThan(0);
});

describe('[C4.3] structures that are refused', () => {
  const header = (size: number, type: string, ...rest: bigint[]) => {
    const bytes = Buffer.alloc(8 + rest.length * 8);
    bytes.writeUInt32BE(size, 0);
    bytes.write(type, 4, 'latin1');
    rest.forEach((value, index) => bytes.writeBigUInt64BE(value, 8 + index * 8));
    return bytes;
  };
  const cases: [string, () => Buffer, 'not_video' | 'incomplete_file'][] = [
    ['nothing', () => Buffer.alloc(0), 'not_video'],
    ['JSON', () => Buffer.from('{"error":{"message":"not ready"}}'), 'not_video'],
    ['an HTML page', () => Buffer.from('<!doctype html><html></html>'), 'not_video'],
    ['a moov first', () => Buffer.concat([part('moov'), part('ftyp'), part('mdat')]), 'not_video'],
    ['no moov', () => Buffer.concat([part('ftyp'), part('mdat')]), 'incomplete_file'],
    ['no mdat', () => Buffer.concat([part('ftyp'), part('moov')]), 'incomplete_file'],
    ['trailing bytes', () => Buffer.concat([whole, Buffer.from('tail')]), 'incomplete_file'],
    ['a trailing page', () => Buffer.concat([whole, Buffer.from('<html>error</html>')]), 'incomplete_file'],
    ['trailing zeros', () => Buffer.concat([whole, Buffer.alloc(64)]), 'incomplete_file'],
    ['a box size below 8', () => Buffer.concat([whole, header(4, 'free')]), 'incomplete_file'],
    ['a 64-bit size below 16', () => Buffer.concat([whole, header(1, 'free', 8n)]), 'incomplete_file'],
    [
      'a 64-bit size that overflows',
      () => Buffer.concat([whole, header(1, 'free', 2n ** 64n - 1n)]),
      'incomplete_file',
    ],
    ['a cut 64-bit header', () => Buffer.concat([whole, header(1, 'free')]), 'incomplete_file'],
    [
      'a moov of garbage',
      () => Buffer.concat([part('ftyp'), box('moov', Buffer.alloc(300, 7)), part('mdat')]),
      'incomplete_file',
    ],
    ['an empty moov', () => Buffer.concat([part('ftyp'), box('moov'), part('mdat')]), 'incomplete_file'],
  ];
  it.each(cases)('%s', async (_name, bytes, reason) => {
    const result = await check(bytes());
    expect(result).toMatchObject({ ok: false, reason });
  });
});

it('refuses a claim of four billion samples before building lists of them', async () => {
  const bytes = Buffer.from(whole);
  const at = bytes.indexOf('stsz') + 4;
  bytes.writeUInt32BE(1, at + 4);
  bytes.writeUInt32BE(0xffffffff, at + 8);
  expect(await check(bytes)).toMatchObject({ ok: false, reason: 'not_video' });
  const nested = box('trak', box('mdia', box('minf', box('stbl', box('stsz', bytes.subarray(at, at + 12))))));
  expect(claimsIn(nested)).toEqual({ samples: 0xffffffff, fit: true });
});

it('never throws for bytes that are damaged anywhere, and never prints', async () => {
  const print = (['log', 'warn', 'error'] as const).map((name) => jest.spyOn(console, name));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.boolean(),
      async (changes, inTables) => {
        const bytes = Buffer.from(whole);
        const { start, end } = topLevel(whole).find(({ type }) => type === 'moov')!;
        for (const [at, value] of changes) bytes[inTables ? start + (at % (end - start)) : at] = value;
        const result = await check(bytes);
        if (!result.ok) expect(['not_video', 'incomplete_file']).toContain(result.reason);
      },
    ),
    { numRuns: 150 },
  );
  for (const spy of print) expect(spy).not.toHaveBeenCalled();
  jest.restoreAllMocks();
});

it('reads a huge sparse file in bounded time and memory', async () => {
  const path = join(directory, 'sparse');
  const moov = topLevel(whole).find(({ type }) => type === 'moov')!;
  const huge = Buffer.alloc(16);
  huge.writeUInt32BE(1, 0);
  huge.write('free', 4, 'latin1');
  huge.writeBigUInt64BE(6n * 1024n ** 3n, 8);
  await writeFile(path, Buffer.concat([whole, huge]));
  await truncate(path, whole.length + 6 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  expect(await checkMp4(path)).toMatchObject({ ok: true });
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
  expect(moov.end).toBeLessThan(whole.length + 1);
});

it('takes WebM and QuickTime by their first bytes, with a warning', async () => {
  const path = join(directory, 'other');
  await writeFile(
    path,
    Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), Buffer.from('\x42\x82\x84webm...')]),
  );
  expect(await checkVideo(path)).toMatchObject({ ok: true, mediaType: 'video/webm', facts: null });
  await writeFile(path, Buffer.concat([box('ftyp', Buffer.from('qt  \0\0\0\0')), box('moov')]));
  const mov = await checkVideo(path);
  expect(mov).toMatchObject({ ok: true, mediaType: 'video/quicktime' });
  expect(mov.ok && mov.warnings).toHaveLength(1);
});

it.each([
  ['{"status":"in_progress"}', 'The body is json, not video.'],
  ['\ufeff  [1]', 'The body is json, not video.'],
  ['<HTML><body>502', 'The body is html, not video.'],
  ['gateway timeout', 'The body is text, not video.'],
  ['', 'The body is empty.'],
  ['\x89PNG\r\n\x1a\n', 'The bytes are image/png, not video.'],
  ['\0\x01\x02\x03', 'The bytes are not a known video format.'],
])('[C4.3] %j is not video and is named', async (text, message) => {
  const path = join(directory, 'page');
  await writeFile(path, Buffer.from(text, text.startsWith('\x89') ? 'latin1' : 'utf8'));
  expect(await checkVideo(path)).toEqual({ ok: false, reason: 'not_video', message });
});
