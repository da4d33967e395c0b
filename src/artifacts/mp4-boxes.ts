import { type FileHandle } from 'node:fs/promises';

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
   * bytes that are `no_box`; or `more_boxes` than may be read.
   */
  readonly rest: 'nothing' | 'part_of_box' | 'no_box' | 'more_boxes';
}

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

/** Thrown where the bytes of a table or box end too early, or are no box. */
export class DamagedMp4 extends Error {
  constructor() {
    super('The tables of the MP4 file are damaged.');
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

/** The box whose header these bytes are; a box without a size extends to `end`. */
function boxAt(header: Buffer, start: number, end: number): Mp4Box | 'part_of_box' | 'no_box' {
  if (header.length < 8) return 'part_of_box';
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

/** One read serves headers that are close together: a hostile file may consist of headers only. */
class HeaderReader {
  readonly #window = Buffer.alloc(4096);
  #start = 0;
  #length = 0;

  constructor(private readonly bytes: ByteSource) {}

  /** Up to 16 bytes; fewer at the file's end. */
  async at(position: number): Promise<Buffer> {
    const from = position - this.#start;
    if (from >= 0 && from + 16 <= this.#length) return this.#window.subarray(from, from + 16);
    const { bytesRead } = await this.bytes.read(this.#window, 0, this.#window.length, position);
    [this.#start, this.#length] = [position, bytesRead];
    return this.#window.subarray(0, Math.min(16, bytesRead));
  }
}

/** Random access to the bytes of a file that does not change meanwhile. */
export interface ByteSource {
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

/** A file up to this size is read at once: its checks read about a dozen positions. */
const SMALL = 512 * 1024;

/** The bytes of an open file: those of a small file in memory, those of a larger one on demand. */
export async function bytesOf(handle: FileHandle, size: number): Promise<ByteSource> {
  if (size > SMALL) return handle;
  const bytes = Buffer.allocUnsafe(size);
  let there = 0;
  while (there < size) {
    const { bytesRead } = await handle.read(bytes, there, size - there, there);
    if (bytesRead === 0) break;
    there += bytesRead;
  }
  return {
    read(into, offset, length, position) {
      const end = Math.min(position + length, there);
      return Promise.resolve({ bytesRead: position < end ? bytes.copy(into, offset, position, end) : 0 });
    },
  };
}
