import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { link, mkdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { areDurable, type NewFolder, newFolders } from './durable-folders';

/**
 * Creates a file with its whole content, or says that somebody else did. Durable when it returns: file and folders are
 * fsynced. The content is written under a name of its own and then linked: no reader ever sees half a record.
 * Throws when it cannot write (assumption A2); an error after the link leaves the file there, which is the safe side.
 */
export async function createIfAbsent(
  file: string,
  content: string,
  options: {
    readonly keep?: boolean;
    /** The name of a file of the same folder without which nothing is created; then the folder is not made either. */
    readonly after?: string;
  } = {},
): Promise<'won' | 'lost'> {
  const folder = dirname(file);
  const made =
    options.after === undefined ? await mkdir(folder, { recursive: true, mode: 0o700 }) : undefined;
  const folders = newFolders(folder, made);
  const draft = join(folder, `.${randomUUID()}.tmp`);
  try {
    // Both are waits for the disk, and neither needs the other.
    await settled([writeDraft(draft, content), ...folders.map(syncName)]);
    areDurable(folders);
    // Looked for once the draft is there: in a folder that was taken away since, the link fails for want of the draft.
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

/** All of them to their end, then the first failure: nothing goes on in the background. */
async function settled(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works)) if (result.status === 'rejected') throw result.reason;
}

async function syncName({ path, isOurs }: NewFolder): Promise<void> {
  await syncFolder(dirname(path)).catch((error: NodeJS.ErrnoException) => {
    // Far above the journal there may be folders that none of us may open, nor make anything in.
    if (isOurs || !['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP'].includes(error.code ?? '')) throw error;
  });
}

/** What was renamed, linked or removed in a folder is on the disk when this returns. */
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
 * Files by their descriptors: a create opens ten of them, a hand back reads thousands, and as many handles of
 * node:fs/promises keep the event loop busy for almost twice as long.
 */
export const bareFiles = {
  open: promisify(fs.open),
  read: promisify(fs.readFile),
  /** All of the content. */
  write: promisify(fs.writeFile),
  sync: promisify(fs.fsync),
  close: promisify(fs.close),
};
