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

/** A file up to this size is read at once: its checks look at a dozen places. */
const SMALL = 512 * 1024;

/** The bytes behind a handle: those of a small file in memory, of a larger one where they are. */
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
