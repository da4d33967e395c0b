import { createFile, type ISOFile, Log, MP4BoxBuffer } from 'mp4box';
import { type ByteSource } from './byte-source';
import { type TopLevelBox } from './mp4-boxes';
import { placesEverySample } from './mp4-chunks';
import { nestsWell } from './mp4-nesting';
import { claimedSamples } from './mp4-sample-count';

/** What the sample tables say about the picture. */
export interface VideoTrackFacts {
  readonly durationSeconds: number;
  readonly width: number;
  readonly height: number;
  /** Frames per second, rounded to 3 digits; absent when the duration is 0. */
  readonly fps?: number;
  /** RFC 6381 name, such as `avc1.42e01e`; its first four letters alone when the file does not say more. */
  readonly codec: string;
}

export type SampleCheck =
  | { readonly ok: true; readonly facts: VideoTrackFacts }
  | { readonly ok: false; readonly reason: 'not_video' | 'truncated'; readonly message: string };

/** Bounds of what is read into memory: about ten hours of sound and pictures. */
const MAX_TABLE_BYTES = 64 * 1024 * 1024;
const MAX_SAMPLES = 1_500_000;

const truncated = (message: string): SampleCheck => ({ ok: false, reason: 'truncated', message });

/**
 * Checks that every sample of every track lies within an `mdat` box: parsers show the full duration of a
 * file that lost half its samples. Reads `ftyp`, `moov` and `moof` only; media data stays on disk.
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
      // Each takes a byte at least; twelve bytes of a table can claim a million of them.
      if (samples > mediaBytes) return truncated(`Not all of ${samples} samples fit into the file.`);
      silently(() => file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(toArrayBuffer(bytes), box.start)));
    }
    return silently(() => judge(file, boxes));
  } catch {
    return damaged();
  }
}

/** The parser writes about damaged files to the console; what it says is in our result already. */
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

const damaged = () => truncated('The sample tables cannot be read: the file is damaged.');

const tooMany = (): SampleCheck => ({
  ok: false,
  reason: 'not_video',
  message: 'The sample tables are larger than those of any video.',
});

/** Shown to the parser as media data, whatever it is: that is the only kind of box it skips without reading. */
function skippedBox(box: TopLevelBox): MP4BoxBuffer {
  const header = Buffer.alloc(box.headerBytes);
  const size = box.end - box.start;
  header.writeUInt32BE(box.headerBytes === 16 ? 1 : size <= 0xffffffff ? size : 0, 0);
  header.write('mdat', 4, 'latin1');
  if (box.headerBytes === 16) header.writeBigUInt64BE(BigInt(size), 8);
  return MP4BoxBuffer.fromArrayBuffer(toArrayBuffer(header), box.start);
}

function judge(file: ISOFile, boxes: readonly TopLevelBox[]): SampleCheck {
  const info = file.getInfo();
  const [track] = info.videoTracks;
  if (track === undefined)
    return { ok: false, reason: 'not_video', message: 'The file has no picture track.' };
  if (!file.moov.traks.every(placesEverySample))
    return truncated('The tables of a track do not say where all its samples are.');
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
  if (outside > 0) return truncated(`${outside} of ${total} samples are not in the file.`);
  const frames = file.getTrackSamplesInfo(track.id).length;
  if (frames === 0) return truncated('The picture track has no frames.');
  return { ok: true, facts: factsOf(track, frames) };
}

/** Index of the box that holds these bytes, tried from the one that held the last sample; -1 for none. */
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
