import { open } from 'node:fs/promises';

/** Writes a new file piece by piece. Its content is on the disk when this returns; its name may not be yet. */
export async function writeSynced(
  path: string,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  mode: number,
): Promise<void> {
  const handle = await open(path, 'wx', mode);
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
