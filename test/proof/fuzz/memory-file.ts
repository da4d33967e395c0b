import { type FileHandle } from 'node:fs/promises';

/** Bytes that are read like an open file: fuzzing a parser of files is not a test of the disk. */
export function memoryFile(bytes: Buffer): FileHandle {
  const read = (target: Buffer, offset: number, length: number, position: number) => ({
    bytesRead: position >= bytes.length ? 0 : bytes.copy(target, offset, position, position + length),
    buffer: target,
  });
  return {
    read: (...given: Parameters<typeof read>) => Promise.resolve(read(...given)),
  } as unknown as FileHandle;
}
