import { type FileHandle } from 'node:fs/promises';

/** One top-level box of an ISO base media file; offsets in bytes from the file's start. */
export interface TopLevelBox {
  readonly type: string;
  readonly start: number;
  readonly headerBytes: 8 | 16;
  readonly end: number;
}

type BoxWalk =
  | { readonly ok: true; readonly boxes: readonly TopLevelBox[] }
  | { readonly ok: false; readonly reason: 'not_video' | 'incomplete_file'; readonly message: string };

/** Four characters as muxers write them: anything else is not a box. */
export const BOX_TYPE = /^[\x20-\x7e\xa9]{4}$/;

/** More boxes than any real file has, so that a walk ends. */
const MAX_BOXES = 100_000;

const incomplete = (message: string): BoxWalk => ({ ok: false, reason: 'incomplete_file', message });

/**
 * Walks the top-level boxes to the end of the file (C4.3, architecture: Download): `ftyp` is first, `moov` and `mdat`
 * exist, every box ends within the file, and nothing follows the last one. Reads the headers, never the media data.
 */
export async function walkBoxes(bytes: ByteSource, size: number): Promise<BoxWalk> {
  const boxes: TopLevelBox[] = [];
  const headers = new HeaderReader(bytes);
  let position = 0;
  while (position < size) {
    const box = await readBox(headers, position, size);
    if (boxes.length === 0 && box?.type !== 'ftyp')
      return { ok: false, reason: 'not_video', message: 'The bytes do not begin like an MP4 file.' };
    if (box === undefined)
      return incomplete(`At byte ${position} there is no complete box: the file is cut or damaged.`);
    if (box.end > size)
      return incomplete(`The box ${box.type} needs ${box.end} bytes, the file has ${size}.`);
    boxes.push(box);
    if (boxes.length > MAX_BOXES) return incomplete('The file has more boxes than any video.');
    position = box.end;
  }
  if (boxes.length === 0) return { ok: false, reason: 'not_video', message: 'The file is empty.' };
  for (const needed of ['moov', 'mdat'])
    if (!boxes.some((box) => box.type === needed)) return incomplete(`The file has no ${needed} box.`);
  return { ok: true, boxes };
}

/** The box that begins here, or undefined when these bytes are not a box header. */
async function readBox(headers: HeaderReader, start: number, size: number): Promise<TopLevelBox | undefined> {
  const header = await headers.at(start);
  if (header.length < 8) return undefined;
  const type = header.toString('latin1', 4, 8);
  if (!BOX_TYPE.test(type)) return undefined;
  const short = header.readUInt32BE(0);
  // 0: the box extends to the end of the file, so it is the last one.
  if (short === 0) return { type, start, headerBytes: 8, end: size };
  if (short === 1) {
    if (header.length < 16) return undefined;
    const long = header.readBigUInt64BE(8);
    if (long < 16n) return undefined;
    const end = BigInt(start) + long;
    return { type, start, headerBytes: 16, end: end > MAX_OFFSET ? Infinity : Number(end) };
  }
  return short < 8 ? undefined : { type, start, headerBytes: 8, end: start + short };
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

const MAX_OFFSET = BigInt(Number.MAX_SAFE_INTEGER);

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
