import { DamagedMp4 } from '../../../src/stores/artifacts/mp4-boxes';
import {
  claimOf,
  fragmentDefaultsOf,
  fragmentSamples,
  type Mp4Track,
  tracksOf,
} from '../../../src/stores/artifacts/mp4-tracks';
import { bytesOfParts, type Part, table, trak as madeTrak } from './make-boxes';
import { box } from './make-media';

const ENTRY = table('avc1', 7);
const TKHD = table('tkhd', 0, 0, 0, 42);
const MDHD = table('mdhd', 0, 0, 0, 600, 1200);
const STSD = table('stsd', 0, 1, ENTRY);
const STTS = table('stts', 0, 1, 9, 100);

const trak = ({ stbl = [STSD, STTS], ...made }: Partial<Parameters<typeof madeTrak>[0]>) =>
  madeTrak({ stbl, ...made });

/** The tracks of the body of a `moov` box. */
const tracks = (...traks: Buffer[]) => [...tracksOf(Buffer.concat([box('mvhd'), ...traks]))];

function track(made: Parameters<typeof trak>[0]): Mp4Track {
  return tracks(trak(made))[0]!;
}

/** @param more boxes of `stbl` behind those that every track has */
const withTables = (...more: Buffer[]) => track({ stbl: [STSD, STTS, ...more] });

describe('a track', () => {
  it('has its number, its clock and its first sample entry', () => {
    expect(withTables()).toMatchObject({ id: 42, timescale: 600, duration: 1200, ticks: 0, sampleCount: 0 });
    expect(withTables().sampleEntry).toEqual(ENTRY);
  });

  it('has them in other places in the longer versions', () => {
    const made = track({
      tkhd: table('tkhd', 1 << 24, 1n, 2n, 43),
      mdhd: table('mdhd', 1 << 24, 1n, 2n, 90_000, 2n ** 33n),
    });
    expect(made).toMatchObject({ id: 43, timescale: 90_000, duration: 2 ** 33 });
  });

  it('is one of those that the file has, in its order', () => {
    const other = trak({ tkhd: table('tkhd', 0, 0, 0, 7) });
    expect(tracks(box('free'), trak({}), box('udta'), other).map(({ id }) => id)).toEqual([42, 7]);
    expect(tracks()).toEqual([]);
  });

  it.each<[string, Buffer]>([
    ['a track header', box('trak', box('mdia', box('hdlr'), MDHD, box('minf', box('stbl', STSD, STTS))))],
    ['media', box('trak', TKHD)],
    ['a handler', trak({ hdlr: Buffer.alloc(0) })],
    ['a media header', trak({ mdhd: Buffer.alloc(0) })],
    ['media information', box('trak', TKHD, box('mdia', box('hdlr'), MDHD))],
    ['sample tables', box('trak', TKHD, box('mdia', box('hdlr'), MDHD, box('minf')))],
    ['a sample description', trak({ stbl: [STTS] })],
    ['a count of sample entries', trak({ stbl: [table('stsd', 0), STTS] })],
    ['a sample entry', trak({ stbl: [table('stsd', 0, 1), STTS] })],
    ['a sample entry that is counted', trak({ stbl: [table('stsd', 0, 0, ENTRY), STTS] })],
    ['all of its track header', trak({ tkhd: table('tkhd', 0, 0, 0) })],
    ['all of its media header', trak({ mdhd: table('mdhd', 0, 0, 0, 600) })],
    ['all of a long media header', trak({ mdhd: table('mdhd', 1 << 24, 1n, 2n, 600, 1) })],
  ])('without %s is damaged', (_, made) => {
    expect(() => tracks(made)).toThrow(DamagedMp4);
  });

  it('is damaged in a moov box without a header', () => {
    expect(() => [...tracksOf(trak({}))]).toThrow(DamagedMp4);
  });
});

describe('ticks of a track', () => {
  const sizes = (count: number) => table('stsz', 0, 5, count);
  const ticks = (count: number, duration: number, ...stts: Buffer[]) =>
    track({ mdhd: table('mdhd', 0, 0, 0, 600, duration), stbl: [STSD, sizes(count), ...stts] }).ticks;

  it.each<[string, number, readonly number[], number]>([
    ['one run for all', 4, [1, 4, 100], 300],
    ['two runs', 4, [2, 2, 100, 2, 10], 210],
    ['a run that ends with the last but one', 3, [2, 2, 100, 1, 10], 200],
    ['fewer than there are samples', 10, [1, 2, 100], 200],
    ['more than there are samples', 3, [2, 1, 100, 9, 10], 110],
    ['no run', 3, [0], 0],
    ['one sample', 1, [1, 1, 100], 0],
    ['a run that is claimed and not needed', 3, [3, 1, 100, 1, 10], 110],
  ])('are those before the last sample, with %s', (_, count, stts, expected) => {
    expect(ticks(count, 0, table('stts', 0, ...stts))).toBe(expected);
  });

  it('are those of the header when it has more', () => {
    expect(ticks(4, 301, table('stts', 0, 1, 4, 100))).toBe(301);
    expect(ticks(4, 299, table('stts', 0, 1, 4, 100))).toBe(300);
  });

  it('are none without samples, and need no table then', () => {
    expect(ticks(0, 1200)).toBe(0);
    expect(ticks(0, 1200, STTS)).toBe(0);
  });

  it('are damaged where a needed run is not there, or no table is', () => {
    expect(() => ticks(4, 0, table('stts', 0, 3, 1, 100, 1, 10))).toThrow(DamagedMp4);
    expect(() => ticks(4, 0, table('stts', 0))).toThrow(DamagedMp4);
    expect(() => ticks(4, 0)).toThrow(DamagedMp4);
  });
});

describe('lengths of samples', () => {
  const lengths = (made: Mp4Track) =>
    Array.from({ length: made.sampleCount }, (_, index) => made.sampleBytes(index));

  it.each<[string, Buffer, readonly number[]]>([
    ['one for all', table('stsz', 0, 5, 3), [5, 5, 5]],
    ['of their own', table('stsz', 0, 0, 3, 7, 8, 0x01_00_00_09), [7, 8, 0x01_00_00_09]],
    ['in two bytes', table('stz2', 0, 16, 3, Buffer.from('000101000302', 'hex')), [1, 256, 770]],
    ['in a byte', table('stz2', 0, 8, 3, Buffer.from([7, 8, 255])), [7, 8, 255]],
    ['in half a byte', table('stz2', 0, 4, 5, Buffer.from('12f89a', 'hex')), [1, 2, 15, 8, 9]],
  ])('are %s', (_, sizes, expected) => {
    expect(lengths(withTables(sizes))).toEqual(expected);
  });

  it('are those of the full table where both are there', () => {
    expect(lengths(withTables(table('stz2', 0, 8, 1, Buffer.from([9])), table('stsz', 0, 5, 2)))).toEqual([
      5, 5,
    ]);
  });

  it('are nothing without a table', () => {
    expect(withTables()).toMatchObject({ sampleCount: 0 });
    expect(withTables().sampleBytes(0)).toBe(0);
  });

  it.each<[string, Buffer]>([
    ['of five bits', table('stz2', 0, 5, 1, Buffer.alloc(8))],
    ['behind the table', table('stsz', 0, 0, 1)],
    ['of two bytes behind the table', table('stz2', 0, 16, 1, Buffer.alloc(1))],
    ['of a byte behind the table', table('stz2', 0, 8, 1)],
    ['of half a byte behind the table', table('stz2', 0, 4, 1)],
  ])('%s are damaged', (_, sizes) => {
    const made = withTables(sizes);
    expect(() => made.sampleBytes(0)).toThrow(DamagedMp4);
  });

  it('are damaged in a table that ends before their number', () => {
    expect(() => withTables(table('stsz', 0, 5))).toThrow(DamagedMp4);
    expect(() => withTables(table('stz2', 0, 8))).toThrow(DamagedMp4);
  });
});

describe('chunks of a track', () => {
  const starts = (made: Mp4Track) => [made.chunkStart(0), made.chunkStart(1)];

  it('begin where a short or a long table says', () => {
    expect(starts(withTables(table('stco', 0, 2, 40, 50)))).toEqual([40, 50]);
    expect(starts(withTables(table('co64', 0, 2, 40n, 2n ** 33n)))).toEqual([40, 2 ** 33]);
    const both = withTables(table('co64', 0, 2, 1n, 2n), table('stco', 0, 2, 40, 50));
    expect(starts(both)).toEqual([40, 50]);
  });

  it('are damaged without a table, or behind its end', () => {
    expect(() => withTables().chunkStart(0)).toThrow(DamagedMp4);
    expect(() => withTables(table('stco', 0, 2, 40)).chunkStart(1)).toThrow(DamagedMp4);
    expect(() => withTables(table('co64', 0, 2, 40n)).chunkStart(1)).toThrow(DamagedMp4);
    expect(() => withTables(table('stco', 0))).toThrow(DamagedMp4);
  });

  const STSC = table('stsc', 0, 2, 1, 3, 1, 4, 2, 1);

  it.each<[string, readonly Buffer[], readonly object[]]>([
    [
      'up to the next run, and the last one to the last chunk',
      [STSC, table('stco', 0, 5, 1, 2, 3, 4, 5)],
      [
        { first: 1, next: 4, samplesEach: 3 },
        { first: 4, next: 6, samplesEach: 2 },
      ],
    ],
    [
      'of long offsets',
      [table('stsc', 0, 1, 1, 3, 1), table('co64', 0, 2, 1n, 2n)],
      [{ first: 1, next: 3, samplesEach: 3 }],
    ],
    [
      'of no chunk',
      [STSC],
      [
        { first: 1, next: 4, samplesEach: 3 },
        { first: 4, next: 1, samplesEach: 2 },
      ],
    ],
    ['that are not there', [table('stco', 0, 1, 1)], []],
  ])('hold samples by runs %s', (_, tables, expected) => {
    expect([...withTables(...tables).chunkRuns()]).toEqual(expected);
  });

  it('are damaged where a run is claimed and not there', () => {
    const made = withTables(table('stsc', 0, 2, 1, 3, 1), table('stco', 0, 1, 1));
    expect(() => [...made.chunkRuns()]).toThrow(DamagedMp4);
  });
});

describe('defaults of fragments', () => {
  it('are those of the first box for each track', () => {
    const mvex = box(
      'mvex',
      table('mehd', 0, 7, 0, 1, 1),
      table('trex', 0, 7, 1, 100, 9, 0),
      table('trex', 0, 8, 1, 200, 10, 0),
      table('trex', 0, 7, 1, 300, 11, 0),
    );
    expect(fragmentDefaultsOf(Buffer.concat([box('mvhd'), mvex]))).toEqual(
      new Map([
        [7, { ticks: 100, bytes: 9 }],
        [8, { ticks: 200, bytes: 10 }],
      ]),
    );
  });

  it('are none in a file without fragments', () => {
    expect(fragmentDefaultsOf(box('mvhd'))).toEqual(new Map());
  });

  it('are damaged where the box ends too early', () => {
    expect(() => fragmentDefaultsOf(box('mvex', table('trex', 0, 7, 1, 100)))).toThrow(DamagedMp4);
  });
});

describe('samples of a fragment', () => {
  const DEFAULTS = new Map([[7, { ticks: 100, bytes: 9 }]]);
  const START = 1000;
  const tfhd = (flags: number, id: number, ...more: Part[]) => table('tfhd', flags, id, ...more);
  const traf = (...boxes: Buffer[]) => box('traf', ...boxes);
  const samples = (...boxes: Buffer[]) => [...fragmentSamples(Buffer.concat(boxes), START, DEFAULTS)];
  const sample = (offset: number, bytes: number, ticks: number, trackId = 7, count = 1) => ({
    trackId,
    offset,
    bytes,
    ticks,
    count,
  });

  it('are as the file says where the fragment says nothing', () => {
    expect(samples(traf(tfhd(0, 7), table('trun', 0, 2)))).toEqual([sample(1000, 9, 100, 7, 2)]);
    const many = table('trun', 0, 0xffffffff);
    expect(samples(traf(tfhd(0, 7), many))).toEqual([sample(1000, 9, 100, 7, 0xffffffff)]);
    expect(samples(traf(tfhd(0, 8), table('trun', 0, 1)))).toEqual([sample(1000, 0, 0, 8)]);
  });

  it.each<[string, Buffer, object]>([
    ['where they begin', tfhd(0x1, 7, 5000n), sample(5000, 9, 100)],
    ['their description, which is not read', tfhd(0x2, 7, 1), sample(1000, 9, 100)],
    ['how long they are shown', tfhd(0x8, 7, 33), sample(1000, 9, 33)],
    ['how long they are', tfhd(0x10, 7, 44), sample(1000, 44, 100)],
    ['their flags, which are not read', tfhd(0x20, 7, 1), sample(1000, 9, 100)],
    ['everything', tfhd(0x3b, 7, 5000n, 1, 33, 44, 1), sample(5000, 44, 33)],
    ['their description and how long they are shown', tfhd(0xa, 7, 1, 33), sample(1000, 9, 33)],
    ['how long they are shown, and how long they are', tfhd(0x18, 7, 33, 44), sample(1000, 44, 33)],
  ])('are as the fragment says: %s', (_, header, expected) => {
    expect(samples(traf(header, table('trun', 0, 1)))).toEqual([expected]);
  });

  it.each<[string, Buffer, readonly object[]]>([
    ['where they begin', table('trun', 0x1, 1, 50), [sample(1050, 9, 100)]],
    ['that they begin before the box', table('trun', 0x1, 1, 2 ** 32 - 50), [sample(950, 9, 100)]],
    ['flags of the first', table('trun', 0x4, 1, 99), [sample(1000, 9, 100)]],
    ['both', table('trun', 0x5, 1, 50, 99), [sample(1050, 9, 100)]],
    ['how long each is shown', table('trun', 0x100, 2, 1, 2), [sample(1000, 9, 1), sample(1009, 9, 2)]],
    ['how long each is', table('trun', 0x200, 2, 3, 4), [sample(1000, 3, 100), sample(1003, 4, 100)]],
    ['flags of each', table('trun', 0x600, 2, 3, 99, 4, 98), [sample(1000, 3, 100), sample(1003, 4, 100)]],
    ['shifts of each', table('trun', 0xa00, 2, 3, 99, 4, 98), [sample(1000, 3, 100), sample(1003, 4, 100)]],
    [
      'everything',
      table('trun', 0xf05, 2, 50, 99, 1, 3, 97, 96, 2, 4, 95, 94),
      [sample(1050, 3, 1), sample(1053, 4, 2)],
    ],
  ])('are as their run says: %s', (_, run, expected) => {
    expect(samples(traf(tfhd(0, 7), run))).toEqual(expected);
  });

  it('go on behind the run before, or where the next run says', () => {
    const runs = [table('trun', 0, 2), table('trun', 0, 1), table('trun', 0x1, 1, 500), table('trun', 0, 1)];
    expect(samples(traf(tfhd(0, 7), box('tfdt'), ...runs)).map(({ offset }) => offset)).toEqual([
      1000, 1018, 1500, 1509,
    ]);
  });

  it('are those of all tracks in it', () => {
    const first = traf(tfhd(0, 7), table('trun', 0, 1));
    const second = traf(tfhd(0x10, 8, 5), table('trun', 0x1, 1, 9));
    expect(samples(box('mfhd'), first, box('free'), second)).toEqual([
      sample(1000, 9, 100),
      // Behind the data of the track before.
      sample(1018, 5, 0, 8),
    ]);
    const ofBox = traf(tfhd(0x20010, 8, 5), table('trun', 0x1, 1, 9));
    expect(samples(first, ofBox)).toEqual([sample(1000, 9, 100), sample(1009, 5, 0, 8)]);
    expect(samples(first, traf(tfhd(0, 7), table('trun', 0, 1)))).toEqual([
      sample(1000, 9, 100),
      sample(1009, 9, 100),
    ]);
  });

  it.each<[string, Buffer]>([
    ['without a header', traf(table('trun', 0, 1))],
    ['with half a header', traf(table('tfhd', 0), table('trun', 0, 1))],
    ['with half an offset', traf(tfhd(0x1, 7, 1), table('trun', 0, 1))],
    ['with half a run', traf(tfhd(0, 7), table('trun', 0))],
    ['with a run that ends too early', traf(tfhd(0, 7), table('trun', 0x200, 2, 3))],
  ])('%s are damaged', (_, made) => {
    expect(() => samples(made)).toThrow(DamagedMp4);
  });
});

describe('what a table claims', () => {
  it.each<[string, readonly Part[], object]>([
    ['stts', [0, 3], { count: 3, bytes: 32 }],
    ['ctts', [0, 3], { count: 3, bytes: 32 }],
    ['stsc', [0, 3], { count: 3, bytes: 44 }],
    ['stco', [0, 3], { count: 3, bytes: 20 }],
    ['co64', [0, 3], { count: 3, bytes: 32 }],
    ['stss', [0, 3], { count: 3, bytes: 20 }],
    ['stsh', [0, 3], { count: 3, bytes: 32 }],
    ['elst', [0, 3], { count: 3, bytes: 44 }],
    ['elst', [1 << 24, 3], { count: 3, bytes: 68 }],
    ['sbgp', [0, 9, 3], { count: 3, bytes: 36 }],
    ['sbgp', [1 << 24, 9, 9, 3], { count: 3, bytes: 40 }],
    ['sgpd', [0, 9, 3], { count: 3, bytes: 15 }],
    ['sgpd', [1 << 24, 9, 5, 3], { count: 3, bytes: 31 }],
    ['sgpd', [1 << 24, 9, 0, 3], { count: 3, bytes: 28 }],
    ['sgpd', [2 << 24, 9, 5, 3], { count: 3, bytes: 19 }],
    ['sidx', [0, 9, 9, 9, 9, 3], { count: 3, bytes: 60 }],
    ['sidx', [1 << 24, 9, 9, 9n, 9n, 3], { count: 3, bytes: 68 }],
    ['stsz', [0, 0, 3], { count: 3, bytes: 24, samples: true }],
    ['stsz', [0, 5, 3], { count: 3, bytes: 12, samples: true }],
    ['stz2', [0, 16, 3], { count: 3, bytes: 18, samples: true }],
    ['stz2', [0, 4, 3], { count: 3, bytes: 13.5, samples: true }],
    ['trun', [0, 3], { count: 3, bytes: 8, samples: true }],
    ['trun', [0xf05, 3], { count: 3, bytes: 64, samples: true }],
  ])('in %s %j', (type, parts, expected) => {
    expect(claimOf(type, bytesOfParts(...parts))).toEqual(expected);
  });

  it('is nothing in other boxes', () => {
    expect(claimOf('tkhd', Buffer.alloc(0))).toBeUndefined();
  });

  it('is damaged where the count is cut', () => {
    expect(() => claimOf('stts', bytesOfParts(0))).toThrow(DamagedMp4);
  });
});
