import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { link, mkdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { areDurable, type NewFolder, newFolders } from './durable-folders';

/**
 * Creates a file with its whole content, or returns `lost` when it exists. Durable when it returns: file and folders
 * are fsynced. The content is written under a temporary name and then linked: no reader ever sees a partial record.
 * Throws when it cannot write (assumption A2); an error after the link leaves the file there, which is the safe side.
 */
export async function createIfAbsent(
  file: string,
  content: string,
  options: {
    readonly keep?: boolean;
    /**
     * The name of a file in the same folder without which nothing is created; the folder is then not created either.
     */
    readonly after?: string;
  } = {},
): Promise<'won' | 'lost'> {
  const folder = dirname(file);
  const made =
    options.after === undefined ? await mkdir(folder, { recursive: true, mode: 0o700 }) : undefined;
  const folders = newFolders(folder, made);
  const draft = join(folder, `.${randomUUID()}.tmp`);
  try {
    // Both wait for the disk and are independent.
    await settled([writeDraft(draft, content), ...folders.map(syncName)]);
    areDurable(folders);
    // Checked after the draft is written: if the folder is removed later, the link fails because the draft is gone.
    if (options.after !== undefined) await stat(join(folder, options.after));
    await link(draft, file);
    if (options.keep === false) await unlink(file);
    await syncFolder(folder);
    return 'won';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'lost';
    throw error;
  } finally {
    await unlink(draft).catch(() => undefined);
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

async function syncName({ path, isOurs }: NewFolder): Promise<void> {
  await syncFolder(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    // Folders far above the journal may not be readable or writable by this process.
    if (isOurs || !['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].includes(error.code ?? '')) throw error;
  });
}

/** Renames, links and removals in a folder are on the disk when this returns. */
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

/**
 * File operations on descriptors: a create opens ten files, a hand back reads thousands, and as many handles of
 * node:fs/promises keep the event loop busy for almost twice as long.
 */
export const bareFiles = {
  open: promisify(fs.open),
  read: promisify(fs.readFile),
  /** Writes all of the content. */
  write: promisify(fs.writeFile),
  sync: promisify(fs.fsync),
  close: promisify(fs.close),
};
