import { dirname } from 'node:path';

/** A folder whose entry in its parent must be on the disk before a record below it counts. */
export interface NewFolder {
  readonly path: string;
  /** This process has just created it. */
  readonly isOurs: boolean;
}

/** Folders of which this process knows that they are on the disk. */
const DURABLE = new Set<string>();

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

/** Marks folders as durable, after their parents were synced. */
export function areDurable([, ...above]: readonly NewFolder[]): void {
  for (const { path } of above) DURABLE.add(path);
}
