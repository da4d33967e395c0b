import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Readable } from 'node:stream';
import { otherwise } from '../../domain/bug';
import { type ArtifactRef, type ReferenceKind } from '../../domain/request';
import { ensureFolder, publishIfAbsent, removeIfThere, writeSynced } from '../files/durable-files';
import { systemCode } from '../files/system-errors';
import { ArtifactError, type ArtifactStore, toArtifactError } from './artifact-store';
import { isIntact } from './file-part';
import { SNIFF_BYTES, sniffMedia } from './media-type';

export interface IngestedFile {
  readonly artifact: ArtifactRef;
  readonly kind: ReferenceKind;
}

interface IngestOptions {
  /** @default 8 GiB */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 8 * 1024 ** 3;

/**
 * Copies a user's file into the store. Refuses bytes that are not an image, a video or audio (`not_media`), whatever
 * the file's name, so a request cannot send arbitrary files from the worker to the service (C2.4.6). The caller
 * resolves the path and decides whether it is allowed. A symbolic link as its last component is not followed. Errors do
 * not contain the path.
 */
export async function ingestFile(
  store: Pick<ArtifactStore, 'putStream'>,
  path: string,
  { maxBytes = DEFAULT_MAX_BYTES }: IngestOptions = {},
): Promise<IngestedFile> {
  const handle = await openRegular(path);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes)
      throw new ArtifactError('too_large', `The file is ${size} bytes, but the limit is ${maxBytes}.`);
    const head = Buffer.alloc(Math.min(SNIFF_BYTES, size));
    if (size > 0) await handle.read(head, 0, head.length, 0);
    const media = sniffMedia(head);
    if (media === undefined)
      throw new ArtifactError('not_media', "The file's content is not an image, a video or audio.");
    const artifact = await store.putStream(bounded(handle, maxBytes), { mediaType: media.mediaType });
    return { artifact, kind: media.kind };
  } finally {
    await handle.close();
  }
}

/** Opens a regular file. Without O_NONBLOCK, opening a pipe would wait indefinitely for a writer. */
async function openRegular(path: string): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw new ArtifactError('not_readable', `The file cannot be read (${systemCode(error)}).`);
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new ArtifactError('not_readable', 'The path is not a regular file. Only regular files can be used.');
}

/** Limits the bytes, because the file may grow while it is read. */
async function* bounded(handle: FileHandle, maxBytes: number): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) {
    total += (chunk as Uint8Array).length;
    if (total > maxBytes)
      throw new ArtifactError('too_large', `The file is larger than the allowed ${maxBytes} bytes.`);
    yield chunk as Uint8Array;
  }
}

const PLACE = 'The destination';

/** Writes verified bytes to a `.part` file, syncs it and renames it to the user's file. Never overwrites a file. */
export async function fetchToFile(
  ref: ArtifactRef,
  destination: string,
  read: () => Promise<Readable>,
): Promise<'written' | 'already_there'> {
  if (await holdsSame(ref, destination)) return 'already_there';
  const part = `${destination}.${randomBytes(6).toString('hex')}.part`;
  const source = await read();
  try {
    await ensureFolder(dirname(destination), 0o777);
    await writeSynced(part, source as AsyncIterable<Uint8Array>, 0o666);
    if (await publishIfAbsent(part, destination)) return 'written';
    // Another process was faster. That is fine if it wrote the same content.
    if (await holdsSame(ref, destination)) return 'already_there';
    throw occupied();
  } catch (error) {
    throw toArtifactError(error, PLACE);
  } finally {
    source.destroy();
    await removeIfThere(part).catch(otherwise(undefined));
  }
}

/** True if the file exists with this content, false if it is absent. Throws if it has other content. */
async function holdsSame(ref: ArtifactRef, destination: string): Promise<boolean> {
  try {
    // Excludes pipes and directories first: opening a pipe would wait indefinitely.
    if (!(await stat(destination)).isFile()) throw occupied();
    if (!(await isIntact(destination, ref.bytes, ref.sha256))) throw occupied();
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw toArtifactError(error, PLACE);
  }
}

function occupied(): ArtifactError {
  return new ArtifactError('destination_occupied', 'The destination already exists with different content.');
}
