import { type FileHandle } from 'node:fs/promises';

/** Random access to a file that does not change during the reads. */
export interface ByteSource {
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

/** Files up to this size are read as a whole, because checks would otherwise read about a dozen parts of them. */
const SMALL = 512 * 1024;

/** Returns an open file's bytes. Small files are read into memory, larger ones on demand. */
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

/** Reads bytes from a position. Returns fewer bytes if the file ends earlier. */
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

/** Serves nearby headers from one read, because a hostile file may consist only of headers. */
export class HeaderReader {
  readonly #window = Buffer.alloc(4096);
  #start = 0;
  #length = 0;

  constructor(private readonly bytes: ByteSource) {}

  /** Returns up to 16 bytes, fewer at the end of the file. */
  async at(position: number): Promise<Buffer> {
    const from = position - this.#start;
    if (from >= 0 && from + 16 <= this.#length) return this.#window.subarray(from, from + 16);
    const { bytesRead } = await this.bytes.read(this.#window, 0, this.#window.length, position);
    [this.#start, this.#length] = [position, bytesRead];
    return this.#window.subarray(0, Math.min(16, bytesRead));
  }
}

/** The result of checking a container other than MP4. `cut` means that the file is truncated. */
export type ContainerCheck = 'has_picture' | 'no_picture' | 'cut';
