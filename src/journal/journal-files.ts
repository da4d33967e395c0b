import { readdirSync, readFileSync } from 'node:fs';
import { filesIn } from './files-in';
import { readIfThere } from './read-if-there';

/** Looks into the files of a journal. */
export interface JournalFiles {
  /** The text of a file; null when there is none. */
  readonly text: (file: string) => Promise<string | null>;
  /** Names in a folder that end so, sorted; none when there is no such folder. */
  readonly names: (folder: string, ending: string) => Promise<readonly string[]>;
}

/** Of a file system that several hosts share: a look may take milliseconds, in which others go on. */
export const sharedFiles: JournalFiles = { text: readIfThere, names: filesIn };

/**
 * Of a disk of this host. A look takes some microseconds, because what was written of late is in memory; with a thread
 * and a promise for each it keeps the event loop busy ten times as long, and a batch that takes over rows makes thousands.
 */
export const hostFiles: JournalFiles = {
  text: async (file) => ifThere(() => readFileSync(file, 'utf8'), null),
  names: async (folder, ending) =>
    ifThere(() => readdirSync(folder), [])
      .filter((name) => name.endsWith(ending))
      .sort(),
};

function ifThere<T, None>(look: () => T, none: None): T | None {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none;
    throw error;
  }
}
