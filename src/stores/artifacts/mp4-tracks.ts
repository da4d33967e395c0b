import { boxesIn, DamagedMp4, type Mp4Box, uint16, uint32, uint64, uint8 } from './mp4-boxes';

// Reads tables in place and within their boxes, so a false count never allocates a list.

export interface Mp4Track {
  readonly id: number;
  /** Ticks per second. */
  readonly timescale: number;
  /** Duration in ticks according to the media header. */
  readonly duration: number;
  /** Whether its handler is for video or an image sequence. */
  readonly isPicture: boolean;
  /** The first sample entry, including its header. */
  readonly sampleEntry: Buffer;
  /** Duration in ticks according to the sample table. */
  readonly ticks: number;
  readonly sampleCount: number;
  /** Whether all samples have the same length. */
  readonly hasOneLength: boolean;
  /** Returns a sample's length in bytes. Samples are numbered from 0. */
  readonly sampleBytes: (index: number) => number;
  /** Returns a chunk's offset in the file. Chunks are numbered from 0. */
  chunkStart(index: number): number;
  /** Consecutive chunks with the same number of samples, as the file lists them. */
  chunkRuns(): Iterable<ChunkRun>;
}

export interface ChunkRun {
  /** First chunk, counted from 1. */
  readonly first: number;
  /** First chunk of the next run. For the last run, the number of chunks plus 1. */
  readonly next: number;
  readonly samplesEach: number;
}

/** Consecutive samples of the same length, with their offset in the file and the duration of each. */
interface FragmentSamples {
  readonly trackId: number;
  readonly offset: number;
  readonly bytes: number;
  readonly ticks: number;
  readonly count: number;
}

const PICTURE_HANDLERS: ReadonlySet<string> = new Set(['vide', 'pict']);

export function* tracksOf(moov: Buffer): Generator<Mp4Track> {
  required(moov, 'mvhd');
  for (const box of boxesIn(moov)) if (box.type === 'trak') yield trackOf(bodyOf(moov, box));
}

function trackOf(trak: Buffer): Mp4Track {
  const header = required(trak, 'tkhd');
  const media = required(trak, 'mdia');
  const handler = required(media, 'hdlr').toString('latin1', 8, 12);
  const mediaHeader = required(media, 'mdhd');
  const tables = required(required(media, 'minf'), 'stbl');
  const long = mediaHeader[0] === 1;
  const duration = long ? uint64(mediaHeader, 24) : uint32(mediaHeader, 16);
  const samples = samplesOf(tables);
  return {
    id: uint32(header, header[0] === 1 ? 20 : 12),
    timescale: uint32(mediaHeader, long ? 20 : 12),
    duration,
    isPicture: PICTURE_HANDLERS.has(handler),
    sampleEntry: firstSampleEntry(required(tables, 'stsd')),
    ticks: samples.sampleCount === 0 ? 0 : Math.max(duration, ticksBeforeLast(tables, samples.sampleCount)),
    ...samples,
    ...chunksOf(tables),
  };
}

type Samples = Pick<Mp4Track, 'sampleCount' | 'hasOneLength' | 'sampleBytes'>;

function samplesOf(tables: Buffer): Samples {
  const sizes = child(tables, 'stsz');
  if (sizes !== undefined) {
    const all = uint32(sizes, 4);
    return {
      sampleCount: uint32(sizes, 8),
      hasOneLength: all !== 0,
      sampleBytes: (index) => (all !== 0 ? all : uint32(sizes, 12 + index * 4)),
    };
  }
  const compact = child(tables, 'stz2');
  if (compact === undefined) return { sampleCount: 0, hasOneLength: true, sampleBytes: () => 0 };
  const bits = uint8(compact, 7);
  return {
    sampleCount: uint32(compact, 8),
    hasOneLength: false,
    sampleBytes: (index) => {
      if (bits === 16) return uint16(compact, 12 + index * 2);
      if (bits === 8) return uint8(compact, 12 + index);
      if (bits !== 4) throw new DamagedMp4();
      const pair = uint8(compact, 12 + (index >> 1));
      return index % 2 === 0 ? pair >> 4 : pair & 15;
    },
  };
}

type Chunks = Pick<Mp4Track, 'chunkStart' | 'chunkRuns'>;

function chunksOf(tables: Buffer): Chunks {
  const short = child(tables, 'stco');
  const starts = short ?? child(tables, 'co64');
  const chunkCount = starts === undefined ? 0 : uint32(starts, 4);
  const runs = child(tables, 'stsc');
  return {
    chunkStart: (index) => {
      if (starts === undefined) throw new DamagedMp4();
      return short === undefined ? uint64(starts, 8 + index * 8) : uint32(starts, 8 + index * 4);
    },
    *chunkRuns() {
      if (runs === undefined) return;
      const count = uint32(runs, 4);
      for (let run = 0, at = 8; run < count; run++, at += 12)
        yield {
          first: uint32(runs, at),
          next: run + 1 < count ? uint32(runs, at + 12) : chunkCount + 1,
          samplesEach: uint32(runs, at + 4),
        };
    },
  };
}

/** Ticks of all samples except the last, which lasts until its track ends. */
function ticksBeforeLast(tables: Buffer, sampleCount: number): number {
  const times = required(tables, 'stts');
  let [left, ticks] = [sampleCount - 1, 0];
  for (let run = 0, runs = uint32(times, 4); run < runs && left > 0; run++) {
    const count = Math.min(left, uint32(times, 8 + run * 8));
    left -= count;
    ticks += count * uint32(times, 12 + run * 8);
  }
  return ticks;
}

function firstSampleEntry(descriptions: Buffer): Buffer {
  if (uint32(descriptions, 4) > 0)
    for (const box of boxesIn(descriptions, 8)) return descriptions.subarray(box.start, box.end);
  throw new DamagedMp4();
}

interface FragmentDefaults {
  readonly ticks: number;
  readonly bytes: number;
}

export const hasFragments = (moov: Buffer): boolean => child(moov, 'mvex') !== undefined;

/** The default values for each track's fragments. */
export function fragmentDefaultsOf(moov: Buffer): ReadonlyMap<number, FragmentDefaults> {
  const defaults = new Map<number, FragmentDefaults>();
  const extending = child(moov, 'mvex');
  if (extending === undefined) return defaults;
  for (const box of boxesIn(extending)) {
    if (box.type !== 'trex') continue;
    const body = bodyOf(extending, box);
    const id = uint32(body, 4);
    if (!defaults.has(id)) defaults.set(id, { ticks: uint32(body, 12), bytes: uint32(body, 16) });
  }
  return defaults;
}

/**
 * Yields the samples of a `moof` box in order.
 * @param start the offset of the box in its file
 */
export function* fragmentSamples(
  moof: Buffer,
  start: number,
  defaults: ReadonlyMap<number, FragmentDefaults>,
): Generator<FragmentSamples> {
  let end = start;
  for (const box of boxesIn(moof)) {
    if (box.type !== 'traf') continue;
    const traf = bodyOf(moof, box);
    const own = fragmentHeader(required(traf, 'tfhd'), { start, end }, defaults);
    end = own.base;
    for (const run of boxesIn(traf))
      if (run.type === 'trun') end = yield* runSamples(bodyOf(traf, run), own, end);
  }
}

interface FragmentHeader extends FragmentDefaults {
  readonly trackId: number;
  /** The offset that run offsets are relative to. */
  readonly base: number;
}

function fragmentHeader(
  header: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  defaults: ReadonlyMap<number, FragmentDefaults>,
): FragmentHeader {
  const flags = uint32(header, 0);
  const trackId = uint32(header, 4);
  // Without either flag, offsets are relative to the end of the previous track's data.
  const base = flags & 1 ? uint64(header, 8) : flags & 0x20000 ? start : end;
  const ticksAt = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
  const bytesAt = ticksAt + (flags & 8 ? 4 : 0);
  const given = defaults.get(trackId) ?? { ticks: 0, bytes: 0 };
  return {
    trackId,
    base,
    ticks: flags & 8 ? uint32(header, ticksAt) : given.ticks,
    bytes: flags & 16 ? uint32(header, bytesAt) : given.bytes,
  };
}

/** @returns the offset at which the run ends */
function* runSamples(run: Buffer, own: FragmentHeader, next: number): Generator<FragmentSamples, number> {
  const flags = uint32(run, 0);
  const count = uint32(run, 4);
  let offset = flags & 1 ? own.base + (uint32(run, 8) | 0) : next;
  let position = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  const sizeAt = flags & 0x100 ? 4 : 0;
  const entryBytes = runEntryBytes(flags);
  const { trackId } = own;
  if ((flags & 0x300) === 0) {
    yield { trackId, offset, bytes: own.bytes, ticks: own.ticks, count };
    return offset + own.bytes * count;
  }
  for (let index = 0; index < count; index++) {
    const ticks = flags & 0x100 ? uint32(run, position) : own.ticks;
    const bytes = flags & 0x200 ? uint32(run, position + sizeAt) : own.bytes;
    yield { trackId, offset, bytes, ticks, count: 1 };
    offset += bytes;
    position += entryBytes;
  }
  return offset;
}

/** Each of the four fields is present for all samples of a run or for none. */
const runEntryBytes = (flags: number) =>
  [0x100, 0x200, 0x400, 0x800].reduce((sum, flag) => sum + (flags & flag ? 4 : 0), 0);

interface Claim {
  readonly count: number;
  /** The size in bytes that the table needs for this count. */
  readonly bytes: number;
  /** Whether the entries are samples. */
  readonly samples?: true;
}

const entries =
  (bytesEach: number, countAt = 4) =>
  (body: Buffer): Claim => {
    const count = uint32(body, countAt);
    return { count, bytes: countAt + 4 + count * bytesEach };
  };

/** Tables that state their number of entries. */
const TABLES = {
  stts: entries(8),
  ctts: entries(8),
  stsc: entries(12),
  stco: entries(4),
  co64: entries(8),
  stss: entries(4),
  stsh: entries(8),
  elst: (body) => entries(body[0] === 1 ? 20 : 12)(body),
  sbgp: (body) => entries(8, body[0] === 1 ? 12 : 8)(body),
  // Variable-length entries state their length in four bytes; others have at least one byte.
  sgpd: (body) =>
    body[0] === 0 ? entries(1, 8)(body) : entries(body[0] === 1 ? uint32(body, 8) || 4 : 1, 12)(body),
  sidx: (body) => {
    const at = body[0] === 0 ? 22 : 30;
    const count = uint16(body, at);
    return { count, bytes: at + 2 + count * 12 };
  },
  stsz: (body) => ({ ...entries(uint32(body, 4) === 0 ? 4 : 0, 8)(body), samples: true }),
  stz2: (body) => ({ ...entries(uint8(body, 7) / 8, 8)(body), samples: true }),
  trun: (body) => {
    const flags = uint32(body, 0);
    const count = uint32(body, 4);
    const bytes = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0) + count * runEntryBytes(flags);
    return { count, bytes, samples: true };
  },
} satisfies { readonly [type: string]: (body: Buffer) => Claim };

const TABLE_OF: ReadonlyMap<string, (body: Buffer) => Claim> = new Map(Object.entries(TABLES));

/** A table's claim; undefined if the box is not a table. */
export const claimOf = (type: string, body: Buffer): Claim | undefined => TABLE_OF.get(type)?.(body);

const bodyOf = (around: Buffer, box: Mp4Box) => around.subarray(box.start + box.headerBytes, box.end);

function child(around: Buffer, type: string): Buffer | undefined {
  for (const box of boxesIn(around)) if (box.type === type) return bodyOf(around, box);
  return undefined;
}

function required(around: Buffer, type: string): Buffer {
  const found = child(around, type);
  if (found === undefined) throw new DamagedMp4();
  return found;
}
