import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Readable } from 'node:stream';
import { type ArtifactRef } from '../domain/media';
import { ArtifactError, systemCode, toArtifactError } from './artifact-error';
import { ensureDirectory, publishIfAbsent, removeIfThere } from './durable-file';

const PLACE = 'The destination';

/** Writes verified bytes to a user's file: `.part`, sync, then the name if it is free. Never overwrites. */
export async function fetchToFile(
  ref: ArtifactRef,
  destination: string,
  read: () => Promise<Readable>,
): Promise<'written' | 'already_there'> {
  if (await holdsSame(ref, destination)) return 'already_there';
  const part = `${destination}.${randomBytes(6).toString('hex')}.part`;
  const source = await read();
  try {
    await ensureDirectory(dirname(destination), 0o777);
    await writeAll(part, source);
    if (await publishIfAbsent(part, destination)) return 'written';
    // Somebody was faster: fine when it is the same content.
    if (await holdsSame(ref, destination)) return 'already_there';
    throw occupied();
  } catch (error) {
    throw toArtifactError(error, PLACE);
  } finally {
    source.destroy();
    await removeIfThere(part).catch(() => undefined);
  }
}

async function writeAll(path: string, source: Readable): Promise<void> {
  const handle = await open(path, 'wx', 0o666);
  try {
    for await (const chunk of source) await handle.writeFile(chunk as Uint8Array);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** True when the file is there with this content, false when it is absent; another content is an error. */
async function holdsSame(ref: ArtifactRef, destination: string): Promise<boolean> {
  let handle: FileHandle | undefined;
  try {
    // A pipe or a directory is looked at first: opening a pipe would wait for ever.
    if (!(await stat(destination)).isFile()) throw occupied();
    handle = await open(destination, 'r');
    if ((await handle.stat()).size !== ref.bytes) throw occupied();
    const hash = createHash('sha256');
    for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array);
    if (hash.digest('hex') !== ref.sha256) throw occupied();
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw toArtifactError(error, PLACE);
  } finally {
    await handle?.close();
  }
}

function occupied(): ArtifactError {
  return new ArtifactError('destination_occupied', 'The destination exists and holds something else.');
}
