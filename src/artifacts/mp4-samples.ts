import { createFile, type ISOFile, Log, MP4BoxBuffer } from 'mp4box';
import { BOX_TYPE, type ByteSource, type TopLevelBox } from './mp4-boxes';

/** Facts about the picture from the sample tables. */
export interface VideoTrackFacts {
  readonly durationSeconds: number;
  readonly width: number;
  readonly height: number;
  /** Frames per second, rounded to 3 digits; absent when the duration is 0. */
  readonly fps?: number;
  /** RFC 6381 name, such as `avc1.42e01e`; its first four letters alone when the file does not say more. */
  readonly codec: string;
}

type SampleCheck =
  | { readonly ok: true; readonly facts: VideoTrackFacts }
  | { readonly ok: false; readonly reason: 'not_video' | 'incomplete_file'; readonly message: string };

/** Bounds of what is read into memory, for about ten hours of sound and pictures. */
const MAX_TABLE_BYTES = 64 * 1024 * 1024;
const MAX_SAMPLES = 1_500_000;

const incomplete = (message: string): SampleCheck => ({ ok: false, reason: 'incomplete_file', message });

/**
 * Checks that every sample of every track lies within an `mdat` box: parsers report the full duration of a file that
 * lost half its samples. Reads `ftyp`, `moov` and `moof` only; media data stays on disk.
 */
export async function checkSamples(source: ByteSource, boxes: readonly TopLevelBox[]): Promise<SampleCheck> {
  const file = createFile(false);
  let tableBytes = 0;
  let samples = 0;
  const mediaBytes = boxes.reduce((sum, box) => sum + (box.type === 'mdat' ? box.end - box.start : 0), 0);
  try {
    for (const box of boxes) {
      if (!TABLES.has(box.type)) {
        silently(() => file.appendBuffer(skippedBox(box)));
        continue;
      }
      tableBytes += box.end - box.start;
      if (tableBytes > MAX_TABLE_BYTES) return tooMany();
      const bytes = await readBytes(source, box);
      if (box.type !== 'ftyp' && !nestsWell(bytes, box.headerBytes)) return damaged();
      samples += claimedSamples(bytes, box.headerBytes);
      if (samples > MAX_SAMPLES) return tooMany();
      // Each sample takes at least one byte; twelve bytes of a table can claim a million samples.
      if (samples > mediaBytes) return incomplete(`Not all of ${samples} samples fit into the file.`);
      silently(() => file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(toArrayBuffer(bytes), box.start)));
    }
    return silently(() => validate(file, boxes));
  } catch {
    return damaged();
  }
}

/** Mutes the parser, which logs damaged files to the console; the result already reports them. */
function silently<T>(work: () => T): T {
  const before = { ...Log };
  Log.error = Log.warn = () => undefined;
  try {
    return work();
  } finally {
    Object.assign(Log, before);
  }
}

const TABLES: ReadonlySet<string> = new Set(['ftyp', 'moov', 'moof']);

const damaged = () => incomplete('The sample tables cannot be read: the file is damaged.');

const tooMany = (): SampleCheck => ({
  ok: false,
  reason: 'not_video',
  message: 'The sample tables are larger than those of any video.',
});

/** Presents a box to the parser as media data, the only kind of box that it skips without reading. */
function skippedBox(box: TopLevelBox): MP4BoxBuffer {
  const header = Buffer.alloc(box.headerBytes);
  const size = box.end - box.start;
  header.writeUInt32BE(box.headerBytes === 16 ? 1 : size <= 0xffffffff ? size : 0, 0);
  header.write('mdat', 4, 'latin1');
  if (box.headerBytes === 16) header.writeBigUInt64BE(BigInt(size), 8);
  return MP4BoxBuffer.fromArrayBuffer(toArrayBuffer(header), box.start);
}

function validate(file: ISOFile, boxes: readonly TopLevelBox[]): SampleCheck {
  const info = file.getInfo();
  const [track] = info.videoTracks;
  if (track === undefined)
    return { ok: false, reason: 'not_video', message: 'The file has no picture track.' };
  if (!file.moov.traks.every(placesEverySample))
    return incomplete('The tables of a track do not say where all its samples are.');
  const media = boxes.filter((box) => box.type === 'mdat');
  let outside = 0;
  let total = 0;
  for (const { id } of info.tracks) {
    let near = 0;
    for (const { offset, size } of file.getTrackSamplesInfo(id)) {
      total += 1;
      near = indexOfBoxAround(media, near, offset, size);
      if (near < 0) {
        outside += 1;
        near = 0;
      }
    }
  }
  if (outside > 0) return incomplete(`${outside} of ${total} samples are not in the file.`);
  const frames = file.getTrackSamplesInfo(track.id).length;
  if (frames === 0) return incomplete('The picture track has no frames.');
  return { ok: true, facts: factsOf(track, frames) };
}

/** Index of the box that contains these bytes, searched from the one that held the last sample; -1 for none. */
function indexOfBoxAround(media: readonly TopLevelBox[], near: number, offset: number, size: number): number {
  for (let step = 0; step < media.length; step++) {
    const index = (near + step) % media.length;
    const box = media[index]!;
    if (offset >= box.start + box.headerBytes && offset + size <= box.end) return index;
  }
  return -1;
}

function factsOf(
  track: ReturnType<ISOFile['getInfo']>['videoTracks'][number],
  frames: number,
): VideoTrackFacts {
  const ticks = track.samples_duration > 0 ? track.samples_duration : track.duration;
  const durationSeconds = track.timescale > 0 ? round(ticks / track.timescale) : 0;
  return {
    durationSeconds,
    width: track.video?.width ?? track.track_width,
    height: track.video?.height ?? track.track_height,
    ...(durationSeconds > 0 ? { fps: round(frames / durationSeconds) } : {}),
    codec: codecName(track.codec),
  };
}

/** A muxer may leave the decoder's configuration out; the parser then writes `undefined` into the name. */
const codecName = (name: string) => (/undefined|NaN/.test(name) ? name.slice(0, 4) : name);

const round = (value: number) => Math.round(value * 1000) / 1000;

async function readBytes(source: ByteSource, box: TopLevelBox): Promise<Buffer> {
  const bytes = Buffer.alloc(box.end - box.start);
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await source.read(bytes, done, bytes.length - done, box.start + done);
    if (bytesRead === 0) throw new Error('short read');
    done += bytesRead;
  }
  return bytes;
}

const toArrayBuffer = (bytes: Buffer): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;

/** Boxes that contain only boxes, down to the sample tables. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf']);
const MAX_DEPTH = 8;

/**
 * Whether the boxes inside a `moov` or `moof` box fill it: at a wrong size a parser leaves out what follows, a sound
 * track for example, and reports the rest as if it were all. Fewer than 8 bytes at an end are padding.
 * @param box the whole box, header included
 */
export function nestsWell(box: Buffer, headerBytes: number): boolean {
  return fills(box, headerBytes, box.length, 1);
}

function fills(buffer: Buffer, from: number, to: number, depth: number): boolean {
  let position = from;
  while (position + 8 <= to) {
    const short = buffer.readUInt32BE(position);
    const long = short === 1;
    if (long && position + 16 > to) return false;
    const size = long ? Number(buffer.readBigUInt64BE(position + 8)) : short;
    const headerBytes = long ? 16 : 8;
    if (size < headerBytes || position + size > to) return false;
    const type = buffer.toString('latin1', position + 4, position + 8);
    if (!BOX_TYPE.test(type)) return false;
    const inner = CONTAINERS.has(type) && depth < MAX_DEPTH;
    if (inner && !fills(buffer, position + headerBytes, position + size, depth + 1)) return false;
    position += size;
  }
  return true;
}

type Track = ISOFile['moov']['traks'][number];

/**
 * Whether the chunk tables of a track locate every sample: with too few entries a parser guesses where the rest is,
 * and a guess is usually within the file.
 */
export function placesEverySample({ mdia }: Pick<Track, 'mdia'>): boolean {
  const { stsz, stz2, stsc, stco, co64 } = mdia.minf.stbl;
  const samples = (stsz ?? stz2)?.sample_sizes.length ?? 0;
  const chunks = (stco ?? co64)?.chunk_offsets.length ?? 0;
  const first = stsc?.first_chunk ?? [];
  let placed = 0;
  for (const [index, from] of first.entries()) {
    const to = first[index + 1] ?? chunks + 1;
    // The last run ends with the last chunk, so that no earlier run goes further.
    if (from < 1 || to < from) return false;
    placed += (to - from) * (stsc.samples_per_chunk[index] ?? 0);
  }
  // A last chunk that claims too many samples is harmless; chunks of a track without samples are not.
  return samples === 0 ? placed === 0 : placed >= samples;
}

/** Boxes that contain only boxes, on the way to the sample tables. */
const WITH_SAMPLES: ReadonlySet<string> = new Set(['trak', 'mdia', 'minf', 'stbl', 'traf']);

/** Position of the number of samples, from the end of the box header. */
const COUNT_AT: Readonly<Record<string, number>> = { stsz: 8, stz2: 8, trun: 4 };

/**
 * Samples that the tables in a `moov` or `moof` box claim, counted before any parser builds lists of them: eight
 * bytes can claim four billion.
 * @param box the whole box, header included
 */
export function claimedSamples(box: Buffer, headerBytes: number): number {
  return countIn(box, headerBytes, box.length, 0);
}

function countIn(buffer: Buffer, from: number, to: number, depth: number): number {
  let total = 0;
  let position = from;
  while (position + 8 <= to) {
    const short = buffer.readUInt32BE(position);
    const long = short === 1 && position + 16 <= to;
    const size = long ? Number(buffer.readBigUInt64BE(position + 8)) : short === 0 ? to - position : short;
    if (size < (long ? 16 : 8)) return total;
    const end = Math.min(position + size, to);
    const body = position + (long ? 16 : 8);
    const type = buffer.toString('latin1', position + 4, position + 8);
    const at = COUNT_AT[type];
    if (at !== undefined && body + at + 4 <= end) total += buffer.readUInt32BE(body + at);
    if (WITH_SAMPLES.has(type) && depth < 8) total += countIn(buffer, body, end, depth + 1);
    position = end;
  }
  return total;
}
