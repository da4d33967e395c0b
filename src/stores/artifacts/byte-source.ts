import { type FileHandle } from 'node:fs/promises';

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
  const bytes = await readRange(handle, 0, size);
  return {
    read(into, offset, length, position) {
      const end = Math.min(position + length, bytes.length);
      return Promise.resolve({ bytesRead: position < end ? bytes.copy(into, offset, position, end) : 0 });
    },
  };
}

/** The bytes from a position on; fewer where the file ends. */
export async function readRange(source: ByteSource, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await source.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** One read serves headers that are close together: a hostile file may consist of headers only. */
export class HeaderReader {
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

/** What a container other than MP4 says about itself: whether it has a picture, or is cut. */
export type ContainerCheck = 'has_picture' | 'no_picture' | 'cut';
