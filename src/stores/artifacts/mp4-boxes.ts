import { type ByteSource, HeaderReader } from './byte-source';

/** One box of an ISO base media file; offsets in bytes from the beginning of what is walked. */
export interface Mp4Box {
  readonly type: string;
  readonly start: number;
  readonly headerBytes: 8 | 16;
  readonly end: number;
}

interface BoxesOfFile {
  readonly boxes: readonly Mp4Box[];
  /**
   * What follows the boxes: `nothing`; `part_of_box`, because a header is cut or the last box ends behind the file;
   * bytes that are `no_box`, such as zeros; or `more_boxes` than may be read.
   */
  readonly rest: 'nothing' | 'part_of_box' | 'no_box' | 'more_boxes';
}

/**
 * The boxes at the top level of a file, and what is in them: `samples`; `nothing` that the picture needs; or `structure`,
 * which is never a sample.
 */
const TOP_LEVEL: ReadonlyMap<string, 'samples' | 'nothing' | 'structure'> = new Map([
  ...['mdat', 'imda'].map((type) => [type, 'samples'] as const),
  ...['free', 'skip', 'wide', 'uuid', 'junk', 'pnot', 'PICT', 'pict'].map(
    (type) => [type, 'nothing'] as const,
  ),
  ...['ftyp', 'styp', 'moov', 'moof', 'mfra', 'sidx', 'ssix', 'pdin', 'meta', 'prft', 'emsg', 'udta'].map(
    (type) => [type, 'structure'] as const,
  ),
]);

/** What is in a box at the top level; undefined for one of an unknown type. */
export const roleOf = (type: string) => TOP_LEVEL.get(type);

/** Walks the boxes at the top level of a file. Reads their headers, never what is in them. */
export async function boxesOfFile(bytes: ByteSource, size: number, most: number): Promise<BoxesOfFile> {
  const boxes: Mp4Box[] = [];
  const headers = new HeaderReader(bytes);
  let position = 0;
  while (position < size) {
    if (boxes.length === most) return { boxes, rest: 'more_boxes' };
    const box = boxAt(await headers.at(position), position, size);
    if (typeof box === 'string') return { boxes, rest: box };
    boxes.push(box);
    if (box.end > size) return { boxes, rest: 'part_of_box' };
    position = box.end;
  }
  return { boxes, rest: 'nothing' };
}

/**
 * The boxes in a part of a buffer. Throws {@link DamagedMp4} when they do not fill it; fewer than 8 bytes at the end
 * are padding.
 */
export function* boxesIn(bytes: Buffer, from = 0, to = bytes.length): Generator<Mp4Box> {
  for (let position = from; position + 8 <= to;) {
    const box = boxAt(bytes.subarray(position, Math.min(position + 16, to)), position, to);
    // A size of 0, "to the end", is for the top level only.
    if (typeof box === 'string' || box.end > to || bytes.readUInt32BE(position) === 0) throw new DamagedMp4();
    yield box;
    position = box.end;
  }
}

/** Thrown where a file is not a whole video, or larger than this check reads. */
export class Mp4Refusal extends Error {
  constructor(
    readonly reason: 'not_video' | 'incomplete_file' | 'too_large',
    message: string,
  ) {
    super(message);
  }
}

/** Thrown where the bytes of a table or box end too early, or are no box. */
export class DamagedMp4 extends Mp4Refusal {
  constructor() {
    super('incomplete_file', 'The sample tables cannot be read: the file is damaged.');
  }
}

/** Numbers of a table; a table that ends too early is damaged. */
export const uint8 = (bytes: Buffer, at: number) => bytes.readUInt8(within(bytes, at, 1));
export const uint16 = (bytes: Buffer, at: number) => bytes.readUInt16BE(within(bytes, at, 2));
export const uint32 = (bytes: Buffer, at: number) => bytes.readUInt32BE(within(bytes, at, 4));
export const uint64 = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64BE(within(bytes, at, 8)));

function within(bytes: Buffer, at: number, length: number): number {
  if (at + length > bytes.length) throw new DamagedMp4();
  return at;
}

/** What muxers do not write into the four characters of a type: bytes with it are not a box. */
const NOT_IN_TYPE = /[^\x20-\x7e\xa9]/;

const MAX_OFFSET = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Whether less than a header may be the beginning of one. The box of a fragment has less than 16 MiB, and no box but the
 * last has a size of 0; the media data of a fragment is missed by its samples.
 */
const beginsBox = (header: Buffer) => header[0] === 0 && (header.length < 4 || header.readUInt32BE(0) !== 0);

/** The box whose header these bytes are; a box without a size extends to `end`. */
function boxAt(header: Buffer, start: number, end: number): Mp4Box | 'part_of_box' | 'no_box' {
  if (header.length < 8) return beginsBox(header) ? 'part_of_box' : 'no_box';
  const type = header.toString('latin1', 4, 8);
  if (NOT_IN_TYPE.test(type)) return 'no_box';
  const short = header.readUInt32BE(0);
  if (short === 0) return { type, start, headerBytes: 8, end };
  if (short === 1) {
    if (header.length < 16) return 'part_of_box';
    const long = header.readBigUInt64BE(8);
    if (long < 16n) return 'no_box';
    const far = BigInt(start) + long;
    return { type, start, headerBytes: 16, end: far > MAX_OFFSET ? Infinity : Number(far) };
  }
  return short < 8 ? 'no_box' : { type, start, headerBytes: 8, end: start + short };
}
