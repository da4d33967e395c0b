import { createHash } from 'node:crypto';
import { type FileHandle, link, lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from './artifact-store';

/** Makes the entries of a directory durable. Does nothing on systems that cannot sync a directory. */
export async function syncDirectory(path: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    if (['EISDIR', 'EPERM', 'EACCES'].includes(systemCode(error)) && process.platform === 'win32') return;
    throw error;
  }
  try {
    await handle.sync();
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EPERM'].includes(systemCode(error))) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Creates a directory, and makes every new one durable in its parent. @param mode 0700: no other user can read a
 * store.
 */
export async function ensureDirectory(path: string, mode = 0o700): Promise<void> {
  for (const made of await makeMissing(path, mode)) await syncDirectory(dirname(made));
}

/** Directories that exist and are on the disk: needed once per file, checked once per process. */
const SEEN = new Set<string>();

/**
 * Runs {@link ensureDirectory} once per process, then `work`; both again when the directory was removed. Another
 * process may have created it and not synced it yet, so that its name is made durable whichever process created it.
 */
export async function inDirectory<T>(path: string, work: () => Promise<T>): Promise<T> {
  if (SEEN.has(path)) {
    try {
      return await work();
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
      SEEN.delete(path);
    }
  }
  await ensureDirectory(path);
  for (let above = path; !SEEN.has(above) && dirname(above) !== above; above = dirname(above)) {
    await syncUpper(dirname(above));
    SEEN.add(above);
  }
  return work();
}

/** Directories far above a store may not be readable or writable by this process. */
async function syncUpper(path: string): Promise<void> {
  await syncDirectory(path).catch((error: unknown) => {
    if (!['EACCES', 'EPERM'].includes(systemCode(error))) throw error;
  });
}

/** Level by level: a recursive `mkdir` reports a missing directory when the disk is full. */
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
    const there = await stat(path).catch(() => undefined);
    if (there?.isDirectory() === true) return [];
    throw error;
  }
}

const NO_HARD_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EXDEV',
  'EMLINK',
]);

/**
 * Gives a complete, synced file its final name if nothing has that name; the source name is then removed.
 * A reader sees all of it or nothing. @returns false when the name is taken (the source is kept).
 */
export async function publishIfAbsent(source: string, final: string): Promise<boolean> {
  try {
    await link(source, final);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return false;
    if (!NO_HARD_LINKS.has(code)) throw error;
    // No hard links on this file system: checks, then renames. The gap between the two cannot be avoided.
    if (await exists(final)) return false;
    await rename(source, final);
    await syncDirectory(dirname(final));
    return true;
  }
  await syncDirectory(dirname(final));
  await removeIfThere(source);
  return true;
}

/** Deletes a file if it exists. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

const LONGEST = 80;

/**
 * A file name for any id: unchanged when it is plain, else with the other characters replaced and a digest added, so
 * that two ids never share a name.
 */
export function safeName(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[.-]+/, '_') || '_';
  if (plain === id && id.length <= LONGEST && !WINDOWS_DEVICE.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 8);
  return `${plain.slice(0, LONGEST)}-${digest}`;
}

const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
