import { dirname } from 'node:path';

/** A folder whose name is to be on the disk, in its parent, before a record below it counts. */
export interface NewFolder {
  readonly path: string;
  /** This process made it just now. */
  readonly isOurs: boolean;
}

/** Folders of which this process knows that they are on the disk. */
const DURABLE = new Set<string>();

/**
 * The folders on the way to a record that a power cut could still take away, whoever made them: another process may have
 * made one a moment ago and not synced it yet, and a record in a lost folder is a lost record. Those above stay, so that
 * once is enough for them; the last one comes and goes (a journal is pruned).
 * @param firstMade the uppermost folder on the way that did not exist before
 */
export function newFolders(folder: string, firstMade: string | undefined): NewFolder[] {
  const all: NewFolder[] = [];
  for (let path = folder; dirname(path) !== path; path = dirname(path)) {
    const isOurs = firstMade !== undefined && path.length >= firstMade.length;
    if (isOurs || path === folder || !DURABLE.has(path)) all.push({ path, isOurs });
  }
  return all;
}

/** To be said once their parents were synced. */
export function areDurable([, ...above]: readonly NewFolder[]): void {
  for (const { path } of above) DURABLE.add(path);
}
