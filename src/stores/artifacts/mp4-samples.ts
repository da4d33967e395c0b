import { boxesIn, DamagedMp4, Mp4Refusal, uint16, uint32, uint8 } from './mp4-boxes';
import { claimOf, fragmentDefaultsOf, fragmentSamples, type Mp4Track, tracksOf } from './mp4-tracks';

export interface VideoTrackFacts {
  readonly durationSeconds: number;
  readonly width: number;
  readonly height: number;
  /** Frames per second, rounded to 3 digits; absent when the duration is 0. */
  readonly fps?: number;
  /** RFC 6381 name, such as `avc1.42e01e`; its first four letters alone when the file does not say more. */
  readonly codec: string;
}

/** A part of a file; parts are in its order and do not overlap. */
export interface Range {
  readonly start: number;
  end: number;
}

/** Where the samples of a file belong, and where they may be: wherever there is no other structure. */
export interface Places {
  readonly media: readonly Range[];
  readonly possible: readonly Range[];
}

const MAX_TRACKS = 1000;

/**
 * Checks that every sample of every track is in the file: parsers report the full duration of a file that lost half its
 * samples. Its methods throw {@link Mp4Refusal}.
 */
export class SampleCheck {
  /** Whether a sample is in the file, but not in a box of media data. */
  hasStray = false;
  readonly #picture: Mp4Track;
  readonly #known = new Set<number>();
  readonly #defaults: ReturnType<typeof fragmentDefaultsOf>;
  readonly #room: number;
  readonly #shown: { frames: number; ticks: number };
  #claimed = 0;
  #total = 0;
  #outside = 0;

  /** @param moov body of the index */
  constructor(
    moov: Buffer,
    private readonly places: Places,
  ) {
    this.#defaults = fragmentDefaultsOf(moov);
    this.#room = places.possible.reduce((sum, { start, end }) => sum + end - start, 0);
    this.#checkClaims(moov);
    const tracks: Mp4Track[] = [];
    for (const track of tracksOf(moov))
      if (tracks.push(track) > MAX_TRACKS)
        throw new Mp4Refusal(
          'too_large',
          `The file has more than ${MAX_TRACKS} tracks, the limit of this check.`,
        );
    const picture = tracks.find(({ isPicture }) => isPicture);
    if (picture === undefined) throw new Mp4Refusal('not_video', 'The file has no picture track.');
    if (!tracks.every(placesEverySample))
      throw incomplete('The tables of a track do not say where all its samples are.');
    this.#picture = picture;
    this.#shown = { frames: picture.sampleCount, ticks: picture.ticks };
    for (const track of tracks) {
      this.#known.add(track.id);
      for (const chunk of chunksOf(track)) this.#placeChunk(track, chunk);
    }
  }

  /** @param start of the fragment's box in the file */
  add(start: number, moof: Buffer): void {
    this.#checkClaims(moof);
    for (const run of fragmentSamples(moof, start, this.#defaults)) {
      if (!this.#known.has(run.trackId)) throw new DamagedMp4();
      this.#place(run);
      if (run.trackId !== this.#picture.id) continue;
      this.#shown.frames += run.count;
      this.#shown.ticks += run.ticks * run.count;
    }
  }

  facts(): VideoTrackFacts {
    if (this.#outside > 0)
      throw incomplete(`${this.#outside} of ${this.#total} samples are not in the file.`);
    if (this.#shown.frames === 0) throw incomplete('The picture track has no frames.');
    return factsOf(this.#picture, this.#shown);
  }

  /** The tables must have the bytes for what they claim, and the file for that. */
  #checkClaims(body: Buffer): void {
    const claims = claimsIn(body);
    this.#claimed += claims.samples;
    // Each sample takes at least one byte; twelve bytes of a table can claim a million samples.
    if (this.#claimed > this.#room)
      throw incomplete(`Not all of ${this.#claimed} samples fit into the file.`);
    if (!claims.fit) throw new DamagedMp4();
  }

  /** Sound has thousands of samples a second: those of one length, and those of a whole chunk, are placed at once. */
  #placeChunk({ sampleBytes, hasOneLength }: Mp4Track, { offset, from, to }: Chunk): void {
    if (hasOneLength) return this.#place({ offset, bytes: sampleBytes(from), count: to - from });
    let end = offset;
    for (let sample = from; sample < to; sample++) end += sampleBytes(sample);
    if (countWithin(this.places.media, { offset, bytes: end - offset, count: 1 }) === 1) {
      this.#total += to - from;
      return;
    }
    for (let sample = from, at = offset; sample < to; sample++) {
      const bytes = sampleBytes(sample);
      this.#place({ offset: at, bytes, count: 1 });
      at += bytes;
    }
  }

  #place(run: SampleRun): void {
    this.#total += run.count;
    if (countWithin(this.places.media, run) === run.count) return;
    this.hasStray = true;
    this.#outside += run.count - countWithin(this.places.possible, run);
  }
}

const incomplete = (message: string) => new Mp4Refusal('incomplete_file', message);

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

/** Samples of one length in a row. */
interface SampleRun {
  readonly offset: number;
  readonly bytes: number;
  readonly count: number;
}

/** The samples of a track in one chunk: those from `from` on, and before `to`. */
interface Chunk {
  readonly offset: number;
  readonly from: number;
  readonly to: number;
}

function* chunksOf(track: Mp4Track): Generator<Chunk> {
  let from = 0;
  for (const { first, next, samplesEach } of track.chunkRuns())
    for (let chunk = first; chunk < next && from < track.sampleCount; chunk++) {
      const to = Math.min(from + samplesEach, track.sampleCount);
      yield { offset: track.chunkStart(chunk - 1), from, to };
      from = to;
    }
}

/** How many samples of a run are within the first range that it touches. Hostile runs touch thousands of ranges. */
function countWithin(ranges: readonly Range[], { offset, bytes, count }: SampleRun): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.end < offset + bytes) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  if (range === undefined) return 0;
  if (bytes === 0) return range.start <= offset ? count : 0;
  const before = Math.max(0, Math.ceil((range.start - offset) / bytes));
  return Math.max(0, Math.min(count, Math.floor((range.end - offset) / bytes)) - before);
}

function factsOf(
  picture: Mp4Track,
  { frames, ticks }: { readonly frames: number; readonly ticks: number },
): VideoTrackFacts {
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

/** Length of a picture's sample entry without the boxes in it. */
const PICTURE_HEADER = 86;

function pictureOf(sampleEntry: Buffer): Pick<VideoTrackFacts, 'width' | 'height' | 'codec'> {
  const type = sampleEntry.toString('latin1', 4, 8);
  return {
    width: uint16(sampleEntry, 32),
    height: uint16(sampleEntry, 34),
    codec: [type, detailsOf(type, sampleEntry)].filter((part) => part !== undefined).join('.'),
  };
}

/** Profile and level, from the first configuration of the decoder; undefined where there is none, or a cut one. */
function detailsOf(type: string, sampleEntry: Buffer): string | undefined {
  const codec = CODECS[type.slice(0, 3)];
  if (codec === undefined) return undefined;
  try {
    for (const box of boxesIn(sampleEntry, PICTURE_HEADER))
      if (box.type === codec.box)
        return codec.details(sampleEntry.subarray(box.start + box.headerBytes, box.end));
  } catch (_error) {
    // The rest of the file is checked by its tables, whatever it says of its codec.
  }
  return undefined;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const decimal = (number: number): string => String(number).padStart(2, '0');

const AVC = {
  box: 'avcC',
  details: (bytes: Buffer) => [1, 2, 3].map((at) => hex(uint8(bytes, at))).join(''),
};
const HEVC = { box: 'hvcC', details: hevcDetails };

/** By the first three letters of a sample entry (ISO/IEC 14496-15 annex E; the AV1 and VP9 bindings). */
const CODECS: { readonly [letters: string]: { box: string; details: (bytes: Buffer) => string } } = {
  avc: AVC,
  hvc: HEVC,
  hev: HEVC,
  av0: {
    box: 'av1C',
    details: (bytes) => {
      const [first, second] = [uint8(bytes, 1), uint8(bytes, 2)];
      const profile = first >> 5;
      const depth = (second & 0x40) === 0 ? 8 : profile === 2 && (second & 0x20) !== 0 ? 12 : 10;
      return `${profile}.${decimal(first & 0x1f)}${(second & 0x80) === 0 ? 'M' : 'H'}.${decimal(depth)}`;
    },
  },
  vp0: {
    box: 'vpcC',
    details: (bytes) => [uint8(bytes, 4), uint8(bytes, 5), uint8(bytes, 6) >> 4].map(decimal).join('.'),
  },
};

function hevcDetails(bytes: Buffer): string {
  const profile = uint8(bytes, 1);
  const bits = uint32(bytes, 2).toString(2).padStart(32, '0');
  const compatible = parseInt([...bits].reverse().join(''), 2).toString(16);
  const constraints = [6, 7, 8, 9, 10, 11].map((at) => uint8(bytes, at));
  while (constraints.at(-1) === 0) constraints.pop();
  const level = `${(profile & 0x20) === 0 ? 'L' : 'H'}${uint8(bytes, 12)}`;
  const space = ['', 'A', 'B', 'C'][profile >> 6] ?? '';
  const hexes = constraints.map((byte) => byte.toString(16));
  return [`${space}${profile & 0x1f}`, compatible, level, ...hexes].join('.');
}
