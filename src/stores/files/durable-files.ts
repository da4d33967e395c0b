import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { otherwise } from '../../domain/bug';
import { ifAbsent, NOT_SUPPORTED, systemCode } from './system-errors';

/**
 * File operations on descriptors. A create opens ten files, and a batch that continues after a hand back reads
 * thousands. With node:fs/promises handles, the event loop would be busy for almost twice as long.
 */
export const bareFiles = {
  open: promisify(fs.open),
  read: promisify(fs.readFile),
  /** Writes the whole content. */
  write: promisify(fs.writeFile),
  /** Also used with a `FileHandle`'s `fd`, because handles lack `sync` under Yarn Plug'n'Play. */
  sync: promisify(fs.fsync),
  syncData: promisify(fs.fdatasync),
  close: promisify(fs.close),
};

/** Writes a new file piece by piece. When this returns, the content is on disk, but the file name might not be. */
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

/** Makes the creation, renaming and removal of names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for syncing. Its file system journals the name.
  if (process.platform === 'win32') return;
  await onFile(folder, 'r', bareFiles.sync);
}

async function onFile(
  path: string,
  flags: string,
  work: (descriptor: number) => Promise<void>,
  mode?: number,
) {
  const descriptor = await bareFiles.open(path, flags, mode);
  try {
    await work(descriptor);
  } finally {
    await bareFiles.close(descriptor);
  }
}

/** Makes a newly created file durable, including its name. */
async function syncEntry(file: string): Promise<void> {
  if (process.platform !== 'win32') return syncFolder(dirname(file));
  // Windows can flush only the file itself, under its new name. This also writes the file system's journal of names.
  await onFile(file, 'r+', bareFiles.sync);
}

/** {@link syncFolder} for files that can be recreated. Does nothing if the file system cannot sync folders. */
export async function syncFolderIfItCan(folder: string): Promise<void> {
  await syncFolder(folder).catch((error: unknown) => {
    if (!NOT_SUPPORTED.has(systemCode(error))) throw error;
  });
}

/** Creates a folder and its parents durably. @param mode 0700 by default, so that other users cannot read a store */
export async function ensureFolder(path: string, mode = 0o700): Promise<void> {
  for (const made of await makeMissing(path, mode)) await syncFolderIfItCan(dirname(made));
}

/** Folders that this process knows to be on disk. */
const DURABLE = new Set<string>();

/**
 * Runs {@link ensureFolder} once per process, then `work`. Repeats both if the folder was removed. Makes the folder's
 * name durable even if another process created it, because that process might not have synced it yet.
 */
export async function inFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
  if (DURABLE.has(path)) {
    try {
      return await work();
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
      DURABLE.delete(path);
    }
  }
  await ensureFolder(path);
  for (let above = path; !DURABLE.has(above) && dirname(above) !== above; above = dirname(above)) {
    await syncUpper(dirname(above));
    DURABLE.add(above);
  }
  return work();
}

/**
 * Syncs a folder above a store if it can: this process might not be able to read or write folders far above a store.
 */
async function syncUpper(path: string): Promise<void> {
  await syncFolderIfItCan(path).catch((error: unknown) => {
    if (!['EACCES', 'EPERM'].includes(systemCode(error))) throw error;
  });
}

/** Creates folders level by level, because a recursive `mkdir` reports a missing folder when the disk is full. */
async function makeMissing(path: string, mode: number): Promise<string[]> {
  try {
    return await makeOne(path, mode);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    const parents = await makeMissing(dirname(path), mode);
    return [...parents, ...(await makeOne(path, mode))];
  }
}

async function makeOne(path: string, mode: number): Promise<string[]> {
  try {
    await mkdir(path, { mode });
    return [path];
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw error;
    // The folder may exist even where new files cannot be written.
    const there = await stat(path).catch(otherwise(undefined));
    if (there?.isDirectory() === true) return [];
    throw error;
  }
}

/** A folder whose name must be on disk before a record in it is durable. */
interface NewFolder {
  readonly path: string;
  /** Whether this process has just created it. */
  readonly isOurs: boolean;
}

/**
 * Returns the folders on the path to a record that a power failure could still remove. Another process may have created
 * one without syncing it yet, and a lost folder means a lost record. Upper folders are permanent, so they are synced
 * only once. The last folder can be removed by a prune and created again.
 * @param firstMade the topmost folder on the path that did not exist before
 */
function newFolders(folder: string, firstMade: string | undefined): NewFolder[] {
  const all: NewFolder[] = [];
  for (let path = folder; dirname(path) !== path; path = dirname(path)) {
    const isOurs = firstMade !== undefined && path.length >= firstMade.length;
    if (isOurs || path === folder || !DURABLE.has(path)) all.push({ path, isOurs });
  }
  return all;
}

/** Makes the name of a {@link newFolders new folder} durable. */
async function syncName({ path, isOurs }: NewFolder): Promise<void> {
  await syncFolder(dirname(path)).catch((error: unknown) => {
    // Folders far above the journal might not be readable or writable by this process.
    if (isOurs || !['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].includes(systemCode(error))) throw error;
  });
}

/** Marks folders as durable after their names were synced. */
function areDurable([, ...above]: readonly NewFolder[]): void {
  for (const { path } of above) DURABLE.add(path);
}

/**
 * Gives a file a second name if that name is free. Exactly one of several callers succeeds, even on network file
 * systems.
 * @returns false if the name is taken
 */
export async function linkIfAbsent(source: string, name: string): Promise<boolean> {
  try {
    await link(source, name);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Creates a file with its whole content, or returns `lost` if it exists. The file and its folders are fsynced before
 * this returns. The content is written under a temporary name and then linked, so readers never see a partial record.
 * Throws if it cannot write (assumption A2). An error after the link leaves the file in place, which is the safe
 * outcome.
 */
export async function createIfAbsent(file: string, content: string): Promise<'won' | 'lost'> {
  const folder = dirname(file);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  const folders = newFolders(folder, made);
  const draft = join(folder, `.${randomUUID()}.tmp`);
  try {
    // Independent of each other, and both wait for the disk.
    await settled([writeDraft(draft, content), ...folders.map(syncName)]);
    areDurable(folders);
    if (!(await linkIfAbsent(draft, file))) return 'lost';
    await syncEntry(file);
    return 'won';
  } finally {
    await unlink(draft).catch(otherwise(undefined));
  }
}

async function writeDraft(draft: string, content: string): Promise<void> {
  const write = async (descriptor: number): Promise<void> => {
    await bareFiles.write(descriptor, content);
    await bareFiles.sync(descriptor);
  };
  await onFile(draft, 'wx', write, 0o600);
}

/** Waits for all promises, then throws the first failure, so that nothing continues in the background. */
async function settled(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}

/** Error codes when the file system does not support hard links, or cannot add one to this file. */
const NO_HARD_LINKS: ReadonlySet<string> = new Set([...NOT_SUPPORTED, 'EXDEV', 'EMLINK']);

/**
 * Gives a complete, synced file its final name if that name is free, then removes the source name. Readers see all of
 * it or nothing. Also works without hard links, but then two simultaneous callers can both succeed, so never use it for
 * journal records. @returns false if the name is taken (the source is kept)
 */
export async function publishIfAbsent(source: string, final: string): Promise<boolean> {
  try {
    if (!(await linkIfAbsent(source, final))) return false;
  } catch (error) {
    if (!NO_HARD_LINKS.has(systemCode(error))) throw error;
    // Without hard links, check and then rename. The gap between the two cannot be avoided.
    if ((await lstat(final).catch(ifAbsent(undefined))) !== undefined) return false;
    await rename(source, final);
    await syncFolderIfItCan(dirname(final));
    return true;
  }
  await syncFolderIfItCan(dirname(final));
  await removeIfThere(source);
  return true;
}

export async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch(ifAbsent(undefined));
}
