import { open } from 'node:fs/promises';
import { bareFiles } from './bare-files';

/** Writes a new file piece by piece. Its content is on the disk when this returns; its name may not be yet. */
export async function writeSynced(
  path: string,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  mode: number,
): Promise<void> {
  const handle = await open(path, 'wx', mode);
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    await bareFiles.sync(handle.fd);
  } finally {
    await handle.close();
  }
}
