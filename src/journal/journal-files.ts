import fs from 'node:fs';
import { bareFiles } from './create-if-absent';

/** Looks into the files of a journal. */
export interface JournalFiles {
  /** The text of a file; null when there is none. */
  readonly text: (file: string) => Promise<string | null>;
  /** Names in a folder that end so, sorted; none when there is no such folder. */
  readonly names: (folder: string, ending: string) => Promise<readonly string[]>;
}

/** For any file system: a look may take milliseconds, in which others go on. */
export const asyncFiles: JournalFiles = {
  text: (file) => ifThere(() => bareFiles.read(file, 'utf8'), null),
  names: async (folder, ending) => thoseWith(await ifThere(() => fs.promises.readdir(folder), []), ending),
};

/**
 * For records on a disk of this host. A look takes some microseconds, because what was written of late is in memory; with a
 * thread and a promise for each it keeps the event loop busy ten times as long, and a batch that takes over rows makes thousands.
 */
export const syncFiles: JournalFiles = {
  text: (file) => ifThere(() => fs.readFileSync(file, 'utf8'), null),
  names: async (folder, ending) => thoseWith(await ifThere(() => fs.readdirSync(folder), []), ending),
};

async function ifThere<T, None>(look: () => T | Promise<T>, none: None): Promise<T | None> {
  try {
    return await look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none;
    throw error;
  }
}

function thoseWith(names: readonly string[], ending: string): readonly string[] {
  return names.filter((name) => name.endsWith(ending)).sort();
}
