import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { otherwise } from '../../domain/bug';
import { ifAbsent, NOT_SUPPORTED, systemCode } from './system-errors';

/**
 * File operations on descriptors: a create opens ten files, a hand back reads thousands, and as many handles of
 * node:fs/promises keep the event loop busy for almost twice as long.
 */
export const bareFiles = {
  open: promisify(fs.open),
  read: promisify(fs.readFile),
  /** Writes all of the content. */
  write: promisify(fs.writeFile),
  /** Also for a `FileHandle`, by its `fd`: under Yarn Plug'n'Play handles lack `sync`. */
  sync: promisify(fs.fsync),
  syncData: promisify(fs.fdatasync),
  close: promisify(fs.close),
};

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

/** Names that were created, renamed or removed in a folder are on the disk when this returns. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for syncing; its file system journals the name itself.
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

/** The name of a file that was just created is on the disk when this returns, with the file. */
async function syncEntry(file: string): Promise<void> {
  if (process.platform !== 'win32') return syncFolder(dirname(file));
  // Flushing the file by its new name is as far as Windows goes: its journal of names is written with it.
  await onFile(file, 'r+', bareFiles.sync);
}

/** {@link syncFolder} for files that can be made again: does nothing where the file system cannot sync a folder. */
export async function syncFolderIfItCan(folder: string): Promise<void> {
  await syncFolder(folder).catch((error: unknown) => {
    if (!NOT_SUPPORTED.has(systemCode(error))) throw error;
  });
}

/** Creates a folder, and makes every new one durable in its parent. @param mode 0700: no other user can read a store. */
export async function ensureFolder(path: string, mode = 0o700): Promise<void> {
  for (const made of await makeMissing(path, mode)) await syncFolderIfItCan(dirname(made));
}

/** Folders of which this process knows that they are on the disk. */
const DURABLE = new Set<string>();

/**
 * Runs {@link ensureFolder} once per process, then `work`; both again when the folder was removed. Another process may
 * have created it and not synced it yet, so that its name is made durable whichever process created it.
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

/** Folders far above a store may not be readable or writable by this process. */
async function syncUpper(path: string): Promise<void> {
  await syncFolderIfItCan(path).catch((error: unknown) => {
    if (!['EACCES', 'EPERM'].includes(systemCode(error))) throw error;
  });
}

/** Level by level: a recursive `mkdir` reports a missing folder when the disk is full. */
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
    // It may exist, also where nothing new may be written.
    const there = await stat(path).catch(otherwise(undefined));
    if (there?.isDirectory() === true) return [];
    throw error;
  }
}

/** A folder whose entry in its parent must be on the disk before a record below it counts. */
interface NewFolder {
  readonly path: string;
  /** This process has just created it. */
  readonly isOurs: boolean;
}

/**
 * The folders on the path to a record that a power cut could still remove, whichever process created them: another
 * process may have created one and not synced it yet, and a record in a lost folder is a lost record. Those above are
 * permanent, so that once is enough for them; the last one can be removed and created again (a journal is pruned).
 * @param firstMade the uppermost folder on the path that did not exist before
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
    // Folders far above the journal may not be readable or writable by this process.
    if (isOurs || !['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].includes(systemCode(error))) throw error;
  });
}

/** Marks folders as durable, after their names were synced. */
function areDurable([, ...above]: readonly NewFolder[]): void {
  for (const { path } of above) DURABLE.add(path);
}

/**
 * Gives a file a second name if nothing has that name. Of several callers one succeeds, also on network file systems.
 * @returns false when the name is taken
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
 * Creates a file with its whole content, or returns `lost` when it exists. Durable when it returns: file and folders
 * are fsynced. The content is written under a temporary name and then linked: no reader ever sees a partial record.
 * Throws when it cannot write (assumption A2); an error after the link leaves the file there, which is the safe side.
 */
export async function createIfAbsent(file: string, content: string): Promise<'won' | 'lost'> {
  const folder = dirname(file);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  const folders = newFolders(folder, made);
  const draft = join(folder, `.${randomUUID()}.tmp`);
  try {
    // Both wait for the disk and are independent.
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

/** Waits for all, then throws the first failure: nothing continues in the background. */
async function settled(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}

/** Codes of a file system without hard links, or without another one of this file. */
const NO_HARD_LINKS: ReadonlySet<string> = new Set([...NOT_SUPPORTED, 'EXDEV', 'EMLINK']);

/**
 * Gives a complete, synced file its final name if nothing has that name; the source name is then removed. Also works
 * without hard links, where two callers at the same moment can both succeed: never for a record of the journal.
 * A reader sees all of it or nothing. @returns false when the name is taken (the source is kept).
 */
export async function publishIfAbsent(source: string, final: string): Promise<boolean> {
  try {
    if (!(await linkIfAbsent(source, final))) return false;
  } catch (error) {
    if (!NO_HARD_LINKS.has(systemCode(error))) throw error;
    // No hard links on this file system: checks, then renames. The gap between the two cannot be avoided.
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
