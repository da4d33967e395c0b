import { boxesIn, DamagedMp4, Mp4Refusal, uint16, uint32, uint8 } from './mp4-boxes';
import { claimOf, fragmentDefaultsOf, fragmentSamples, type Mp4Track, tracksOf } from './mp4-tracks';

export interface VideoTrackFacts {
  readonly durationSeconds: number;
  readonly width: number;
  readonly height: number;
  /** Frames per second, rounded to three decimal places; absent if the duration is 0. */
  readonly fps?: number;
  /** RFC 6381 name, such as `avc1.42e01e`; only the first four characters if the file gives no details. */
  readonly codec: string;
}

/** A byte range in a file. Ranges are sorted and do not overlap. */
export interface Range {
  readonly start: number;
  end: number;
}

/** The ranges where samples belong (media data) and where they are possible (anywhere outside structure boxes). */
export interface Places {
  readonly media: readonly Range[];
  readonly possible: readonly Range[];
}

const MAX_TRACKS = 1000;

/**
 * Checks that the file contains every sample of every track. Parsers report the full duration even if a file has lost
 * half its samples. The methods throw {@link Mp4Refusal}.
 */
export class SampleCheck {
  /** Whether a sample is in the file but outside the media data boxes. */
  hasStray = false;
  readonly #picture: Mp4Track;
  readonly #known = new Set<number>();
  readonly #defaults: ReturnType<typeof fragmentDefaultsOf>;
  readonly #room: number;
  readonly #shown: { frames: number; ticks: number };
  #claimed = 0;
  #total = 0;
  #outside = 0;

  /** @param moov the body of the `moov` box */
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
        throw new Mp4Refusal('too_large', `The file has more tracks than the limit of ${MAX_TRACKS}.`);
    const picture = tracks.find(({ isPicture }) => isPicture);
    if (picture === undefined) throw new Mp4Refusal('not_video', 'The file has no picture track.');
    if (!tracks.every(placesEverySample))
      throw incomplete("A track's tables do not locate all of its samples.");
    this.#picture = picture;
    this.#shown = { frames: picture.sampleCount, ticks: picture.ticks };
    for (const track of tracks) {
      this.#known.add(track.id);
      for (const chunk of chunksOf(track)) this.#placeChunk(track, chunk);
    }
  }

  /** @param start the offset of the fragment's box in the file */
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
      throw incomplete(`${this.#outside} of ${this.#total} samples are missing from the file.`);
    if (this.#shown.frames === 0) throw incomplete('The picture track has no frames.');
    return factsOf(this.#picture, this.#shown);
  }

  /**
   * Checks that the tables are large enough for their claims, and that the file is large enough for the claimed
   * samples.
   */
  #checkClaims(body: Buffer): void {
    const claims = claimsIn(body);
    this.#claimed += claims.samples;
    // Each sample takes at least one byte, but twelve bytes of a table can claim a million samples.
    if (this.#claimed > this.#room)
      throw incomplete(`The tables list ${this.#claimed} samples, more than the file has room for.`);
    if (!claims.fit) throw new DamagedMp4();
  }

  /** Places same-length samples and whole chunks in one step, because audio has thousands of samples per second. */
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
  /** How many samples the tables claim. Eight bytes can claim four billion. */
  readonly samples: number;
  /** Whether each table is large enough for its count. */
  readonly fit: boolean;
}

/**
 * Returns the claims of all tables in a `moov` or `moof` box. Throws {@link DamagedMp4} if the inner boxes do not fill
 * it: after a wrong size, a parser would silently skip everything that follows, such as an audio track.
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

/** User data may contain anything, but the claims of tables in it must still be true. */
function addUserClaims(body: Buffer, depth: number, claims: { samples: number; fit: boolean }): void {
  try {
    addClaims(body, depth, claims);
  } catch (error) {
    if (!(error instanceof DamagedMp4)) throw error;
  }
}

/**
 * Whether a track's chunk tables locate every sample. If entries are missing, a parser guesses the remaining locations,
 * and the guesses are usually within the file.
 */
export function placesEverySample({
  sampleCount,
  chunkRuns,
}: Pick<Mp4Track, 'sampleCount' | 'chunkRuns'>): boolean {
  let placed = 0;
  // The last run ends with the last chunk, so earlier runs cannot extend beyond it.
  for (const { first, next, samplesEach } of chunkRuns()) {
    if (first < 1 || next < first) return false;
    placed += (next - first) * samplesEach;
  }
  // A last chunk that claims too many samples is harmless. Chunks in a track without samples are not.
  return sampleCount === 0 ? placed === 0 : placed >= sampleCount;
}

/** Consecutive samples of the same length. */
interface SampleRun {
  readonly offset: number;
  readonly bytes: number;
  readonly count: number;
}

/** One chunk of a track, with samples `from` (inclusive) to `to` (exclusive). */
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

/** Counts a run's samples in the first range that it touches. Hostile runs can touch thousands of ranges. */
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

/** The length of a picture sample entry without its inner boxes. */
const PICTURE_HEADER = 86;

function pictureOf(sampleEntry: Buffer): Pick<VideoTrackFacts, 'width' | 'height' | 'codec'> {
  const type = sampleEntry.toString('latin1', 4, 8);
  return {
    width: uint16(sampleEntry, 32),
    height: uint16(sampleEntry, 34),
    codec: [type, detailsOf(type, sampleEntry)].filter((part) => part !== undefined).join('.'),
  };
}

/** Profile and level from the first decoder configuration; undefined if it is missing or truncated. */
function detailsOf(type: string, sampleEntry: Buffer): string | undefined {
  const codec = CODECS[type.slice(0, 3)];
  if (codec === undefined) return undefined;
  try {
    for (const box of boxesIn(sampleEntry, PICTURE_HEADER))
      if (box.type === codec.box)
        return codec.details(sampleEntry.subarray(box.start + box.headerBytes, box.end));
  } catch (_error) {
    // Codec details are optional: the tables show whether the file is complete.
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

/** Keyed by the first three characters of a sample entry (ISO/IEC 14496-15 annex E; the AV1 and VP9 bindings). */
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
