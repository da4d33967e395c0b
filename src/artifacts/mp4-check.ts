import { open } from 'node:fs/promises';
import { boxesIn, boxesOfFile, bytesOf, type ByteSource, DamagedMp4, type Mp4Box } from './mp4-boxes';
import { isPicture, pictureOf } from './mp4-picture';
import { claimOf, fragmentDefaultsOf, fragmentSamples, type Mp4Track, tracksOf } from './mp4-tracks';

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

interface Mp4Problem {
  readonly ok: false;
  readonly reason: 'not_video' | 'incomplete_file';
  readonly message: string;
}

type Mp4Check = ({ readonly ok: true } & VideoTrackFacts) | Mp4Problem;

/** Bounds of what is read, for about ten hours of sound and pictures. */
const MAX_TABLE_BYTES = 64 * 1024 * 1024;
const MAX_SAMPLES = 1_500_000;
const MAX_TRACKS = 1000;

/** More boxes than any real file has, so that a walk ends. */
const MAX_BOXES = 100_000;

/**
 * Whether a file is a whole MP4 (C4.3, architecture: Download): all top-level boxes to the file's end, then every
 * sample within its media data. Damage inside the media data is not detected: that needs a decoder.
 * Rejects only when the file cannot be read.
 */
export async function checkMp4(path: string): Promise<Mp4Check> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await checkMp4Bytes(await bytesOf(handle, size), size);
  } finally {
    await handle.close();
  }
}

/** {@link checkMp4} of an open file. Reads `moov` and `moof` only; media data stays on disk. */
export async function checkMp4Bytes(bytes: ByteSource, size: number): Promise<Mp4Check> {
  const { boxes, rest } = await boxesOfFile(bytes, size, MAX_BOXES);
  if (boxes[0]?.type !== 'ftyp')
    return notVideo(size === 0 ? 'The file is empty.' : 'The bytes do not begin like an MP4 file.');
  const last = boxes.at(-1)!;
  if (rest === 'more_boxes') return incomplete('The file has more boxes than any video.');
  if (last.end > size)
    return incomplete(`The box ${last.type} needs ${last.end} bytes, the file has ${size}.`);
  if (rest !== 'nothing')
    return incomplete(`At byte ${last.end} there is no complete box: the file is cut or damaged.`);
  for (const needed of ['moov', 'mdat'])
    if (!boxes.some((box) => box.type === needed)) return incomplete(`The file has no ${needed} box.`);
  const tables = await readTables(bytes, boxes);
  if (!Array.isArray(tables)) return tables;
  try {
    return checkTables(
      tables,
      boxes.filter((box) => box.type === 'mdat'),
    );
  } catch (error) {
    if (error instanceof DamagedMp4) return damaged();
    throw error;
  }
}

const notVideo = (message: string): Mp4Problem => ({ ok: false, reason: 'not_video', message });
const incomplete = (message: string): Mp4Problem => ({ ok: false, reason: 'incomplete_file', message });
const damaged = () => incomplete('The sample tables cannot be read: the file is damaged.');
const tooLarge = () => notVideo('The sample tables are larger than those of any video.');

/** A `moov` or `moof` box and what is in it. */
interface Tables {
  readonly box: Mp4Box;
  readonly body: Buffer;
}

async function readTables(bytes: ByteSource, boxes: readonly Mp4Box[]): Promise<Tables[] | Mp4Problem> {
  const read: Tables[] = [];
  let total = 0;
  for (const box of boxes) {
    if (box.type !== 'moov' && box.type !== 'moof') continue;
    total += box.end - box.start;
    if (total > MAX_TABLE_BYTES) return tooLarge();
    const body = Buffer.alloc(box.end - box.start - box.headerBytes);
    for (let done = 0; done < body.length;) {
      const from = box.start + box.headerBytes + done;
      const { bytesRead } = await bytes.read(body, done, body.length - done, from);
      if (bytesRead === 0) return damaged();
      done += bytesRead;
    }
    read.push({ box, body });
  }
  return read;
}

function checkTables(tables: readonly Tables[], media: readonly Mp4Box[]): Mp4Check {
  const claims = tables.map(({ body }) => claimsIn(body));
  const samples = claims.reduce((sum, claim) => sum + claim.samples, 0);
  if (samples > MAX_SAMPLES) return tooLarge();
  // Each sample takes at least one byte; twelve bytes of a table can claim a million samples.
  if (samples > media.reduce((sum, box) => sum + box.end - box.start, 0))
    return incomplete(`Not all of ${samples} samples fit into the file.`);
  if (claims.some(({ fit }) => !fit)) return damaged();
  return checkSamples(tables, media);
}

/** Boxes that contain only boxes, down to the sample tables. */
const CONTAINERS: ReadonlySet<string> = new Set('moov trak edts mdia minf stbl mvex moof traf'.split(' '));
const MAX_DEPTH = 8;

interface Claims {
  /** Samples that tables state: eight bytes can state four billion. */
  readonly samples: number;
  /** Whether each table has the bytes for what it counts. */
  readonly fit: boolean;
}

/**
 * What the tables in a `moov` or `moof` box claim. Throws {@link DamagedMp4} when the boxes in it do not fill it: at a
 * wrong size a parser leaves out what follows, a sound track for example, and reports the rest as if it were all.
 */
export function claimsIn(body: Buffer): Claims {
  const claims = { samples: 0, fit: true };
  addClaims(body, 1, claims);
  return claims;
}

function addClaims(body: Buffer, depth: number, claims: { samples: number; fit: boolean }): void {
  for (const box of boxesIn(body)) {
    const inner = body.subarray(box.start + box.headerBytes, box.end);
    const claim = claimOf(box.type, inner);
    if (claim?.samples) claims.samples += claim.count;
    if (claim !== undefined && claim.bytes > inner.length) claims.fit = false;
    if (depth >= MAX_DEPTH) continue;
    if (CONTAINERS.has(box.type)) addClaims(inner, depth + 1, claims);
    if (box.type === 'udta') addUserClaims(inner, depth + 1, claims);
  }
}

/** Data of the user may hold anything; a table in it must be true none the less. */
function addUserClaims(body: Buffer, depth: number, claims: { samples: number; fit: boolean }): void {
  try {
    addClaims(body, depth, claims);
  } catch (error) {
    if (!(error instanceof DamagedMp4)) throw error;
  }
}

/** Samples of the picture that were found, and how long they are shown. */
interface Shown {
  frames: number;
  ticks: number;
}

/**
 * Checks that every sample of every track lies within an `mdat` box: parsers report the full duration of a file that
 * lost half its samples.
 */
function checkSamples(tables: readonly Tables[], media: readonly Mp4Box[]): Mp4Check {
  // A muxer may write a first index and then the whole one: the last one counts.
  const moov = tables.findLast(({ box }) => box.type === 'moov')!.body;
  const tracks: Mp4Track[] = [];
  for (const track of tracksOf(moov)) {
    if (tracks.length === MAX_TRACKS) return tooLarge();
    tracks.push(track);
  }
  const picture = tracks.find(({ sampleEntry }) => isPicture(sampleEntry));
  if (picture === undefined) return notVideo('The file has no picture track.');
  if (!tracks.every(placesEverySample))
    return incomplete('The tables of a track do not say where all its samples are.');
  let [total, outside] = [0, 0];
  const count = (offset: number, bytes: number) => {
    total += 1;
    if (!liesWithin(media, offset, bytes)) outside += 1;
  };
  for (const track of tracks) placeSamples(track, count);
  const shown: Shown = { frames: picture.sampleCount, ticks: picture.ticks };
  const known = new Set(tracks.map(({ id }) => id));
  const defaults = fragmentDefaultsOf(moov);
  for (const { box, body } of tables) {
    if (box.type !== 'moof') continue;
    for (const sample of fragmentSamples(body, box.start, defaults)) {
      if (!known.has(sample.trackId)) return damaged();
      count(sample.offset, sample.bytes);
      if (sample.trackId !== picture.id) continue;
      shown.frames += 1;
      shown.ticks += sample.ticks;
    }
  }
  if (outside > 0) return incomplete(`${outside} of ${total} samples are not in the file.`);
  if (shown.frames === 0) return incomplete('The picture track has no frames.');
  return { ok: true, ...factsOf(picture, shown) };
}

/**
 * Whether the chunk tables of a track locate every sample: with too few entries a parser guesses where the rest is,
 * and a guess is usually within the file.
 */
export function placesEverySample({
  sampleCount,
  chunkRuns,
}: Pick<Mp4Track, 'sampleCount' | 'chunkRuns'>): boolean {
  let placed = 0;
  // The last run ends with the last chunk, so that no earlier run goes further.
  for (const { first, next, samplesEach } of chunkRuns()) {
    if (first < 1 || next < first) return false;
    placed += (next - first) * samplesEach;
  }
  // A last chunk that claims too many samples is harmless; chunks of a track without samples are not.
  return sampleCount === 0 ? placed === 0 : placed >= sampleCount;
}

function placeSamples(track: Mp4Track, place: (offset: number, bytes: number) => void): void {
  let sample = 0;
  for (const { first, next, samplesEach } of track.chunkRuns())
    for (let chunk = first; chunk < next && sample < track.sampleCount; chunk++) {
      let offset = track.chunkStart(chunk - 1);
      for (let left = samplesEach; left > 0 && sample < track.sampleCount; left--) {
        const bytes = track.sampleBytes(sample++);
        place(offset, bytes);
        offset += bytes;
      }
    }
}

/** Whether one of these boxes, in the order of the file, contains these bytes. */
function liesWithin(media: readonly Mp4Box[], offset: number, bytes: number): boolean {
  let [low, high] = [0, media.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (media[middle]!.start + media[middle]!.headerBytes <= offset) low = middle + 1;
    else high = middle;
  }
  return low > 0 && offset + bytes <= media[low - 1]!.end;
}

function factsOf(picture: Mp4Track, { frames, ticks }: Shown): VideoTrackFacts {
  const shown = ticks > 0 ? ticks : picture.duration;
  const durationSeconds = picture.timescale > 0 ? round(shown / picture.timescale) : 0;
  const { width, height, codec } = pictureOf(picture.sampleEntry);
  return {
    durationSeconds,
    width,
    height,
    ...(durationSeconds > 0 ? { fps: round(frames / durationSeconds) } : {}),
    codec,
  };
}

const round = (value: number) => Math.round(value * 1000) / 1000;
