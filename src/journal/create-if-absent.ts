import { randomUUID } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Creates a file with its whole content, or says that somebody else did. Durable when it returns: file and folders are
 * fsynced. The content is written under a name of its own and then linked: no reader ever sees half a record.
 * Throws when it cannot write (assumption A2); an error after the link leaves the file there, which is the safe side.
 */
export async function createIfAbsent(
  file: string,
  content: string,
  options: { readonly keep?: boolean } = {},
): Promise<'won' | 'lost'> {
  const folder = dirname(file);
  await makeFolders(folder);
  const draft = join(folder, `.${randomUUID()}.tmp`);
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
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

/** Makes missing folders and fsyncs the parents of those it made: a record in a lost folder is a lost record. */
async function makeFolders(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
}

/** What was renamed, linked or removed in a folder is on the disk when this returns. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for syncing; its file system journals the name itself.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
