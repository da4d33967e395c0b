import { type ByteSource, HeaderReader } from './byte-source';

/** A box of an ISO base media file. Offsets are in bytes from the start of the walked file or buffer. */
export interface Mp4Box {
  readonly type: string;
  readonly start: number;
  readonly headerBytes: 8 | 16;
  readonly end: number;
}

interface BoxesOfFile {
  readonly boxes: readonly Mp4Box[];
  /**
   * What follows the boxes: `nothing`; `part_of_box` if a header is truncated or the last box extends past the end of
   * the file; `no_box` for other bytes such as zeros; or `more_boxes` than the limit.
   */
  readonly rest: 'nothing' | 'part_of_box' | 'no_box' | 'more_boxes';
}

/**
 * Top-level box types and their content: `samples`, `structure` (never samples), or `nothing` that the picture needs.
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

/** The role of a top-level box; undefined for unknown types. */
export const roleOf = (type: string) => TOP_LEVEL.get(type);

/** Walks a file's top-level boxes. Reads only their headers. */
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
 * Yields the boxes in a part of a buffer. Throws {@link DamagedMp4} if they do not fill it. Fewer than 8 bytes at the
 * end count as padding.
 */
export function* boxesIn(bytes: Buffer, from = 0, to = bytes.length): Generator<Mp4Box> {
  for (let position = from; position + 8 <= to;) {
    const box = boxAt(bytes.subarray(position, Math.min(position + 16, to)), position, to);
    // A size of 0, "to the end", is allowed only at the top level.
    if (typeof box === 'string' || box.end > to || bytes.readUInt32BE(position) === 0) throw new DamagedMp4();
    yield box;
    position = box.end;
  }
}

/** Thrown if a file is not a complete video or exceeds this check's limits. */
export class Mp4Refusal extends Error {
  constructor(
    readonly reason: 'not_video' | 'incomplete_file' | 'too_large',
    message: string,
  ) {
    super(message);
  }
}

/** Thrown if a table or box ends too early or is not a box. */
export class DamagedMp4 extends Mp4Refusal {
  constructor() {
    super('incomplete_file', 'The sample tables cannot be read. The file is damaged.');
  }
}

/** Readers for numbers in a table. They throw {@link DamagedMp4} if the table ends too early. */
export const uint8 = (bytes: Buffer, at: number) => bytes.readUInt8(within(bytes, at, 1));
export const uint16 = (bytes: Buffer, at: number) => bytes.readUInt16BE(within(bytes, at, 2));
export const uint32 = (bytes: Buffer, at: number) => bytes.readUInt32BE(within(bytes, at, 4));
export const uint64 = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64BE(within(bytes, at, 8)));

function within(bytes: Buffer, at: number, length: number): number {
  if (at + length > bytes.length) throw new DamagedMp4();
  return at;
}

/** Characters that muxers never use in a box type. Bytes that contain them are not a box. */
const NOT_IN_TYPE = /[^\x20-\x7e\xa9]/;

const MAX_OFFSET = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Whether a truncated header may be the start of a box. A fragment's box is smaller than 16 MiB, so its first byte is
 * 0, and only the last box has size 0. If a fragment's media data is missing, its samples show that.
 */
const beginsBox = (header: Buffer) => header[0] === 0 && (header.length < 4 || header.readUInt32BE(0) !== 0);

/** Parses a box header. A box without a size extends to `end`. */
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
