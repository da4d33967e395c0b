import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { otherwise } from '../domain/bug';
import { bareFiles } from './bare-files';
import { areDurable, newFolders, syncEntry, syncFolderIfItCan, syncName } from './durable-folders';
import { ifAbsent, NOT_SUPPORTED, systemCode } from './system-code';

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
  const descriptor = await bareFiles.open(draft, 'wx', 0o600);
  try {
    await bareFiles.write(descriptor, content);
    await bareFiles.sync(descriptor);
  } finally {
    await bareFiles.close(descriptor);
  }
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

/** Deletes a file if it exists. */
export async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch(ifAbsent(undefined));
}
