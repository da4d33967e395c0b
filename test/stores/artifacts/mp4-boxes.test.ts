import { boxesOfFile, DamagedMp4 } from '../../../src/stores/artifacts/mp4-boxes';
import { claimsIn, placesEverySample } from '../../../src/stores/artifacts/mp4-samples';
import { type ChunkRun } from '../../../src/stores/artifacts/mp4-tracks';
import { checkMp4Bytes } from '../../../src/stores/artifacts/mp4-verdict';
import { memorySource } from './memory-source';

/** A box of a size that may be a lie. */
function box(type: string, body: Buffer = Buffer.alloc(0), size = 8 + body.length): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(size, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

/** A box with a 64-bit size. */
function longBox(type: string, body: Buffer = Buffer.alloc(0), size = BigInt(16 + body.length)): Buffer {
  const header = box(type, Buffer.alloc(8), 1);
  header.writeBigUInt64BE(size, 8);
  return Buffer.concat([header, body]);
}

const [FTYP, MOOV, MDAT] = [box('ftyp', Buffer.from('isom')), box('moov'), box('mdat', Buffer.alloc(5))];

/** As if the bytes were a file; a file may be longer than what can be read of it. */
function walk(...parts: Buffer[]) {
  const bytes = Buffer.concat(parts);
  return boxesOfFile(memorySource(bytes), bytes.length, 100_000);
}

function check(...parts: Buffer[]) {
  const bytes = Buffer.concat(parts);
  return checkMp4Bytes(memorySource(bytes), bytes.length);
}

describe('a walk over the boxes of a file', () => {
  it('names each with its place', async () => {
    expect(await walk(FTYP, longBox('free'), MOOV, MDAT)).toEqual({
      rest: 'nothing',
      boxes: [
        { type: 'ftyp', start: 0, headerBytes: 8, end: 12 },
        { type: 'free', start: 12, headerBytes: 16, end: 28 },
        { type: 'moov', start: 28, headerBytes: 8, end: 36 },
        { type: 'mdat', start: 36, headerBytes: 8, end: 49 },
      ],
    });
  });

  it('reads the headers that lie close together at once', async () => {
    let reads = 0;
    const bytes = Buffer.concat([FTYP, MOOV, MDAT, ...Array.from({ length: 1_000 }, () => box('free'))]);
    const source = memorySource(bytes, { onRead: () => (reads += 1) });
    expect(await boxesOfFile(source, bytes.length, 2000)).toMatchObject({ rest: 'nothing' });
    // A header that lies across the end of a read is read again.
    expect(reads).toBeLessThan(4);
  });

  it('takes a size of 0 as the rest of the file', async () => {
    const last = box('mdat', Buffer.alloc(5), 0);
    expect(await walk(FTYP, MOOV, last)).toMatchObject({
      rest: 'nothing',
      boxes: [{}, {}, { type: 'mdat', end: 33 }],
    });
  });

  it.each<[string, Buffer]>([
    ['part_of_box', box('free', Buffer.alloc(8), 17)],
    ['no_box', Buffer.alloc(7, 'x')],
    ['part_of_box', box('moof', Buffer.alloc(8)).subarray(0, 7)],
    ['part_of_box', longBox('free').subarray(0, 15)],
    ['part_of_box', Buffer.alloc(3)],
    ['no_box', Buffer.alloc(4)],
    ['no_box', Buffer.alloc(8)],
    ['no_box', box('\x7fabc')],
    ['no_box', box('abc\0')],
    ['no_box', box('free', Buffer.alloc(8), 7)],
    ['no_box', longBox('free', Buffer.alloc(0), 15n)],
  ])('ends with %s where %j follows', async (rest, bytes) => {
    expect(await walk(FTYP, MOOV, MDAT, bytes)).toMatchObject({ rest });
  });

  it.each(['\xa9too', 'a b~', '    '])('takes %j for a type', async (type) => {
    expect(await walk(FTYP, MOOV, MDAT, box(type))).toMatchObject({ rest: 'nothing' });
  });

  it.each<[string, Buffer[], string, string]>([
    ['no bytes', [], 'not_video', 'The file is empty.'],
    [
      'another first box',
      [box('abcd'), FTYP, MOOV, MDAT],
      'not_video',
      'The content does not begin like an MP4 file.',
    ],
    ['no box at all', [Buffer.from('hello')], 'not_video', 'The content does not begin like an MP4 file.'],
    ['no moov', [FTYP, MDAT], 'incomplete_file', 'The file has no moov box.'],
    [
      'no moov before it is cut',
      [FTYP, MDAT.subarray(0, -1)],
      'incomplete_file',
      `The mdat box ends at byte ${FTYP.length + MDAT.length}, but the file has only ${FTYP.length + MDAT.length - 1} bytes.`,
    ],
    [
      'no moov before bytes that are no box',
      [FTYP, MDAT, Buffer.alloc(9)],
      'incomplete_file',
      `The file is truncated or damaged: byte ${FTYP.length + MDAT.length} does not start a complete box.`,
    ],
    [
      'half a moov',
      [FTYP, MDAT, box('moov', Buffer.alloc(20), 29)],
      'incomplete_file',
      `The moov box ends at byte ${FTYP.length + MDAT.length + 29}, but the file has only ${FTYP.length + MDAT.length + 28} bytes.`,
    ],
    [
      'no moov in a hundred thousand boxes',
      [FTYP, ...Array.from({ length: 100_000 }, () => box('free'))],
      'incomplete_file',
      'The first 100000 boxes of the file do not include a moov box.',
    ],
  ])('refuses a file with %s', async (_, parts, reason, message) => {
    expect(await check(...parts)).toEqual({ ok: false, reason, message });
  });

  it('ends after a hundred thousand boxes', async () => {
    const free = Array.from({ length: 100_000 - 3 }, () => box('free'));
    expect(await walk(FTYP, MOOV, MDAT, ...free)).toMatchObject({ rest: 'nothing' });
    expect(await walk(FTYP, MOOV, MDAT, ...free, box('free'))).toMatchObject({ rest: 'more_boxes' });
  });
});

const number = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** A table of samples of one length. */
const sizes = (type: string, count: number) =>
  box(type, Buffer.concat([number(0), number(type === 'stz2' ? 0 : 1), number(count)]));
const run = (count: number) => box('trun', Buffer.concat([number(0), number(count)]));

describe('the samples that tables claim', () => {
  it.each<[string, Buffer, number]>([
    ['in a track', box('trak', box('mdia', box('minf', box('stbl', sizes('stsz', 7))))), 7],
    ['in small sizes', box('stbl', sizes('stz2', 7)), 7],
    ['in a fragment', box('traf', Buffer.concat([run(3), run(4)])), 7],
    ['in two tracks', Buffer.concat([box('trak', run(3)), box('trak', run(4))]), 7],
    ['behind another box', Buffer.concat([box('free', Buffer.alloc(3)), run(7)]), 7],
    ['behind a long box', Buffer.concat([longBox('free', Buffer.alloc(3)), run(7)]), 7],
    ['in a long box', longBox('trak', run(7)), 7],
    ['behind an empty box', Buffer.concat([box('free'), run(7)]), 7],
    ['as many as four billion', run(0xffffffff), 0xffffffff],
    ['in data of the user', box('udta', run(7)), 7],
    ['in data of the user that is no box', box('udta', Buffer.alloc(9, 255)), 0],
    ['in a box that is no container', box('meta', run(7)), 0],
  ])('%s are counted', (_, inner, expected) => {
    expect(claimsIn(inner)).toEqual({ samples: expected, fit: true });
  });

  it('are counted seven boxes deep', () => {
    const nested = (depth: number) =>
      Array.from({ length: depth }).reduce<Buffer>((inner) => box('trak', inner), run(7));
    expect(claimsIn(nested(7)).samples).toBe(7);
    expect(claimsIn(nested(8)).samples).toBe(0);
  });

  it('are counted seven boxes deep in data of the user', () => {
    const nested = (depth: number) =>
      Array.from({ length: depth }).reduce<Buffer>((inner) => box('udta', inner), run(7));
    expect(claimsIn(nested(7)).samples).toBe(7);
    expect(claimsIn(nested(8)).samples).toBe(0);
  });
});

describe('the entries that a table claims', () => {
  it.each([0, 1])('fit into it, %i bytes short or not', (short) => {
    const table = box('stts', Buffer.concat([number(0), number(3), Buffer.alloc(24 - short)]));
    expect(claimsIn(box('trak', table)).fit).toBe(short === 0);
    // One that does not fit is enough.
    expect(claimsIn(Buffer.concat([table, run(0)])).fit).toBe(short === 0);
  });

  it('are damaged where the table ends before their number', () => {
    const cut = () => claimsIn(box('trun', Buffer.alloc(7, 1)));
    expect(cut).toThrow(DamagedMp4);
    expect(cut).toThrow('The sample tables cannot be read. The file is damaged.');
  });
});

describe('boxes inside a box', () => {
  /** Whether the boxes in a `moov` box fill it. */
  const fills = (moov: Buffer, headerBytes = 8) => {
    try {
      claimsIn(moov.subarray(headerBytes));
      return true;
    } catch (error) {
      if (error instanceof DamagedMp4) return false;
      throw error;
    }
  };
  const inner = box('trak', box('mdia'));
  it.each<[string, Buffer]>([
    ['nothing', box('moov')],
    ['one box', box('moov', inner)],
    ['boxes', box('moov', Buffer.concat([box('mvhd', Buffer.alloc(3)), inner]))],
    ['a long box', box('moov', longBox('trak', inner))],
    ['a long box of nothing', box('moov', longBox('free'))],
    ['seven bytes of padding', box('moov', Buffer.concat([inner, Buffer.alloc(7)]))],
    ['anything in a box that is no container', box('moov', box('udta', Buffer.alloc(9, 255)))],
  ])('fill it with %s', (_, bytes) => {
    expect(fills(bytes)).toBe(true);
  });

  it.each<[string, Buffer]>([
    ['zeros', box('moov', Buffer.concat([inner, Buffer.alloc(8)]))],
    ['a box that is too large', box('moov', box('trak', Buffer.alloc(0), 9))],
    ['a box that is too small', box('moov', Buffer.concat([box('trak', Buffer.alloc(0), 7), inner]))],
    ['a type that is none', box('moov', box('\x01\x02\x03\x04'))],
    ['a box without a size', box('moov', box('trak', Buffer.alloc(0), 0))],
    ['half a long size', box('moov', longBox('trak').subarray(0, 12))],
    ['a long size that is too small', box('moov', longBox('trak', Buffer.alloc(0), 15n))],
    ['a box inside that is too large', box('moov', box('trak', box('mdia', Buffer.alloc(0), 9)))],
    [
      'a second box inside that is too large',
      box('moov', box('trak', Buffer.concat([inner, box('mdia', Buffer.alloc(0), 9)]))),
    ],
  ])('do not fill it with %s', (_, bytes) => {
    expect(fills(bytes)).toBe(false);
  });

  it.each(['trak', 'mdia', 'minf', 'stbl', 'moof', 'traf', 'moov'])('are looked at inside %s', (type) => {
    expect(fills(box('moov', box(type, Buffer.alloc(8))))).toBe(false);
  });

  it('are looked at behind a long header', () => {
    expect(fills(longBox('moov', inner), 16)).toBe(true);
    expect(fills(longBox('moov', Buffer.alloc(8)), 16)).toBe(false);
  });

  it('are looked at eight boxes deep', () => {
    const nested = (depth: number) =>
      Array.from({ length: depth }).reduce<Buffer>((body) => box('trak', body), Buffer.alloc(8));
    expect(fills(box('moov', nested(7)))).toBe(false);
    expect(fills(box('moov', nested(8)))).toBe(true);
  });
});

describe('the chunk tables of a track', () => {
  const places = (samples: number, chunks: number, runs: readonly (readonly [number, number])[]) =>
    placesEverySample({
      sampleCount: samples,
      chunkRuns: () =>
        runs.map(([first, samplesEach], index): ChunkRun => ({
          first,
          next: runs[index + 1]?.[0] ?? chunks + 1,
          samplesEach,
        })),
    });

  it.each<[string, number, number, readonly (readonly [number, number])[], boolean]>([
    ['one sample in one chunk', 1, 1, [[1, 1]], true],
    ['ten samples in chunks of three', 10, 4, [[1, 3]], true],
    [
      'two runs of chunks',
      7,
      3,
      [
        [1, 3],
        [3, 1],
      ],
      true,
    ],
    ['no sample and no chunk', 0, 0, [], true],
    ['no sample and a chunk', 0, 1, [[1, 1]], false],
    [
      'a sample too many',
      8,
      3,
      [
        [1, 3],
        [3, 1],
      ],
      false,
    ],
    ['no run', 1, 1, [], false],
    ['a run before the first chunk', 1, 1, [[0, 1]], false],
    [
      'a run behind the last chunk',
      1,
      1,
      [
        [1, 1],
        [3, 1],
      ],
      false,
    ],
    [
      'a run that goes back',
      10,
      5,
      [
        [3, 1],
        [1, 100],
      ],
      false,
    ],
    [
      'a run of no chunk at the end',
      1,
      1,
      [
        [1, 1],
        [2, 9],
      ],
      true,
    ],
    [
      'runs that go back',
      4,
      4,
      [
        [3, 1],
        [1, 1],
      ],
      false,
    ],
  ])('with %s: %i in %i', (_, samples, chunks, runs, expected) => {
    expect(places(samples, chunks, runs)).toBe(expected);
  });
});
