import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createFile, MP4BoxBuffer } from 'mp4box';
import { claimsIn } from '../../../src/stores/artifacts/mp4-samples';
import { checkMp4 } from '../../../src/stores/artifacts/mp4-verdict';
import { checkVideo } from '../../../src/stores/artifacts/video-check';
import { handler, list, table, trak } from './make-boxes';
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
      // Without the padding at its end, or a part of it, the video is still whole.
      expect({ cut, ok: result.ok }).toEqual({ cut, ok: cut >= complete });
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
  expect(!result.ok && result.message).toMatch(/^\d+ of 20 samples are missing from the file\.$/);
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

describe('[C4.3] structures of a file:', () => {
  const header = (size: number, type: string, ...rest: bigint[]) => {
    const bytes = Buffer.alloc(8 + rest.length * 8);
    bytes.writeUInt32BE(size, 0);
    bytes.write(type, 4, 'latin1');
    rest.forEach((value, index) => bytes.writeBigUInt64BE(value, 8 + index * 8));
    return bytes;
  };
  const TAILS: readonly (readonly [string, () => Buffer, string])[] = [
    ['text', () => Buffer.from('tail'), "The file's last bytes (4) are not a box"],
    ['one byte', () => Buffer.from('\n'), "The file's last bytes (1) are not a box"],
    ['four zeros', () => Buffer.alloc(4), "The file's last bytes (4) are not a box"],
    ['many zeros', () => Buffer.alloc(64), "The file's last bytes (64) are not a box"],
    ['a page', () => Buffer.from('<html>error</html>'), "The file's last bytes (18) are not a box"],
    [
      'a tag of music',
      () => Buffer.from(`TAG${'Title'.padEnd(125)}`),
      "The file's last bytes (128) are not a box",
    ],
    ['a box size below 8', () => header(4, 'free'), "The file's last bytes (8) are not a box"],
    ['a 64-bit size below 16', () => header(1, 'free', 8n), "The file's last bytes (16) are not a box"],
    ['a cut 64-bit header', () => header(1, 'free'), "The file's last bytes (8) are not a box"],
  ];
  const ofBox = (end: number) => `The last box (free) ends at byte ${end}, but the file has only`;

  it.each(TAILS)('%s behind the last box is kept with a warning', async (_name, tail, why) => {
    const warning = `${why}, so the end of the file was not verified.`;
    for (const bytes of [whole, faststart()])
      expect(await check(Buffer.concat([bytes, tail()]))).toEqual({ ok: true, ...facts, warning });
  });

  it('half a box that no sample is in is kept with a warning', async () => {
    for (const [bytes, end] of [
      [header(100, 'free'), whole.length + 100],
      [header(1, 'free', 2n ** 64n - 1n), Infinity],
    ] as const)
      expect(await check(Buffer.concat([whole, bytes]))).toEqual({
        ok: true,
        ...facts,
        warning: `${ofBox(end)} ${whole.length + bytes.length} bytes, so the end of the file was not verified.`,
      });
  });

  it('behind fragments, what cannot be the beginning of another one is kept with a warning', async () => {
    const bytes = fragmented();
    for (const [name, tail, why] of TAILS.filter(([name]) => !/cut/.test(name)))
      expect([name, await check(Buffer.concat([bytes, tail()]))]).toMatchObject([
        name,
        { ok: true, warning: `${why}, so the end of the file was not verified.` },
      ]);
    for (const tail of [
      Buffer.alloc(1),
      Buffer.alloc(3),
      header(100, 'moof').subarray(0, 5),
      header(100, 'moof'),
      header(1, 'mdat'),
    ])
      expect(await check(Buffer.concat([bytes, tail]))).toMatchObject({
        ok: false,
        reason: 'incomplete_file',
      });
    // The index of fragments is the last box, and players can do without.
    expect(await check(Buffer.concat([bytes, header(100, 'mfra')]))).toMatchObject({ ok: true });
  });

  it.each(['free', 'skip', 'wide', 'uuid', 'moov', 'mdat', 'styp', 'meta', 'pdin'])(
    'a box %s may be the first one',
    async (type) => {
      const first = box(type, Buffer.alloc(type === 'moov' ? 0 : 24));
      const bytes = Buffer.concat([first, whole]);
      const at = bytes.indexOf('stco') + 8;
      for (let index = 0; index < bytes.readUInt32BE(at); index++)
        bytes.writeUInt32BE(bytes.readUInt32BE(at + 4 + index * 4) + first.length, at + 4 + index * 4);
      expect(await check(bytes)).toEqual({ ok: true, ...facts });
    },
  );

  it('more boxes than are read are kept with a warning', async () => {
    const more = Buffer.concat(Array.from({ length: 100_000 }, () => header(8, 'free')));
    expect(await check(Buffer.concat([whole, more]))).toMatchObject({
      ok: true,
      warning:
        'The file has more than the 100000 boxes that this check reads, so the end of the file was not verified.',
    });
  });

  it('forty seconds of plain sound beside the pictures are no limit', async () => {
    // A sample of sound is two bytes: 1,764,000 of them.
    const count = 40 * 44_100;
    const sound = trak({
      tkhd: table('tkhd', 0, 0, 0, 2),
      mdhd: table('mdhd', 0, 0, 0, 44_100, count),
      hdlr: handler('soun'),
      stbl: [
        table('stsd', 0, 1, box('sowt', Buffer.alloc(28))),
        list('stts', 1, count, 1),
        table('stsz', 0, 2, count),
        list('stsc', 1, 1, count, 1),
        list('stco', 1, whole.length + 8),
      ],
    });
    const pcm = box('mdat', Buffer.alloc(2 * count));
    const index = (data: Buffer) =>
      Buffer.concat([whole, data, box('moov', part('moov').subarray(8), sound)]);
    expect(await check(index(pcm))).toEqual({ ok: true, ...facts });
    expect(await check(index(box('mdat', Buffer.alloc(2 * count - 3))))).toEqual({
      ok: false,
      reason: 'incomplete_file',
      message: `2 of ${20 + count} samples are missing from the file.`,
    });
  });

  const cases: [string, () => Buffer, 'not_video' | 'incomplete_file'][] = [
    ['nothing', () => Buffer.alloc(0), 'not_video'],
    ['JSON', () => Buffer.from('{"error":{"message":"not ready"}}'), 'not_video'],
    ['an HTML page', () => Buffer.from('<!doctype html><html></html>'), 'not_video'],
    ['no moov', () => Buffer.concat([part('ftyp'), part('mdat')]), 'incomplete_file'],
    ['no mdat', () => Buffer.concat([part('ftyp'), part('moov')]), 'incomplete_file'],
    [
      'a moov of garbage',
      () => Buffer.concat([part('ftyp'), box('moov', Buffer.alloc(300, 7)), part('mdat')]),
      'incomplete_file',
    ],
    ['an empty moov', () => Buffer.concat([part('ftyp'), box('moov'), part('mdat')]), 'incomplete_file'],
  ];
  it.each(cases)('%s is refused', async (_name, bytes, reason) => {
    const result = await check(bytes());
    expect(result).toMatchObject({ ok: false, reason });
  });
});

it('refuses a claim of four billion samples before building lists of them', async () => {
  const bytes = Buffer.from(whole);
  const at = bytes.indexOf('stsz') + 4;
  bytes.writeUInt32BE(1, at + 4);
  bytes.writeUInt32BE(0xffffffff, at + 8);
  expect(await check(bytes)).toMatchObject({ ok: false, reason: 'incomplete_file' });
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

it.each([
  ['{"status":"in_progress"}', 'The body is json, not video.'],
  ['\ufeff  [1]', 'The body is json, not video.'],
  ['<HTML><body>502', 'The body is html, not video.'],
  ['gateway timeout', 'The body is text, not video.'],
  ['', 'The body is empty.'],
  ['\x89PNG\r\n\x1a\n', 'The content is image/png, not video.'],
  ['\0\x01\x02\x03', 'The content is not a known video format.'],
])('[C4.3] %j is not video and is named', async (text, message) => {
  const path = join(directory, 'page');
  await writeFile(path, Buffer.from(text, text.startsWith('\x89') ? 'latin1' : 'utf8'));
  expect(await checkVideo(path)).toEqual({ ok: false, reason: 'not_video', message });
});
