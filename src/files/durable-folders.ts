import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { otherwise } from '../domain/bug';
import { bareFiles } from './bare-files';
import { NOT_SUPPORTED, systemCode } from './system-code';

/** Names that were created, renamed or removed in a folder are on the disk when this returns. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for syncing; its file system journals the name itself.
  if (process.platform === 'win32') return;
  const descriptor = await bareFiles.open(folder, 'r');
  try {
    await bareFiles.sync(descriptor);
  } finally {
    await bareFiles.close(descriptor);
  }
}

/** The name of a file that was just created is on the disk when this returns, with the file. */
export async function syncEntry(file: string): Promise<void> {
  if (process.platform !== 'win32') return syncFolder(dirname(file));
  // Flushing the file by its new name is as far as Windows goes: its journal of names is written with it.
  const descriptor = await bareFiles.open(file, 'r+');
  try {
    await bareFiles.sync(descriptor);
  } finally {
    await bareFiles.close(descriptor);
  }
}

/** {@link syncFolder} for files that can be made again: does nothing where the file system cannot sync a folder. */
export async function syncFolderIfItCan(folder: string): Promise<void> {
  await syncFolder(folder).catch((error: unknown) => {
    if (!NOT_SUPPORTED.has(systemCode(error))) throw error;
  });
}

/**
 * Creates a folder, and makes every new one durable in its parent. @param mode 0700: no other user can read a store.
 */
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
export function newFolders(folder: string, firstMade: string | undefined): NewFolder[] {
  const all: NewFolder[] = [];
  for (let path = folder; dirname(path) !== path; path = dirname(path)) {
    const isOurs = firstMade !== undefined && path.length >= firstMade.length;
    if (isOurs || path === folder || !DURABLE.has(path)) all.push({ path, isOurs });
  }
  return all;
}

/** Makes the name of a {@link newFolders new folder} durable. */
export async function syncName({ path, isOurs }: NewFolder): Promise<void> {
  await syncFolder(dirname(path)).catch((error: unknown) => {
    // Folders far above the journal may not be readable or writable by this process.
    if (isOurs || !['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].includes(systemCode(error))) throw error;
  });
}

/** Marks folders as durable, after their names were synced. */
export function areDurable([, ...above]: readonly NewFolder[]): void {
  for (const { path } of above) DURABLE.add(path);
}
