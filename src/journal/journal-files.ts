import fs from 'node:fs';
import { bareFiles } from '../files/bare-files';
import { systemCode } from '../files/system-code';

/** Reads the files of a journal. */
export interface JournalFiles {
  /** The text of a file; null when there is none. */
  readonly text: (file: string) => Promise<string | null>;
  /** Names in a folder, sorted; none when there is no such folder. */
  readonly names: (folder: string) => Promise<readonly string[]>;
}

/** For any file system: a read may take milliseconds and must not block the event loop. */
export const asyncFiles = {
  text: (file: string) => ifThere(() => bareFiles.read(file, 'utf8'), null),
  names: async (folder: string) => sorted(await ifThere(() => fs.promises.readdir(folder), [])),
  /** Files and folders in a folder, in no order; none when there is no such folder. */
  entries: async (folder: string): Promise<{ name: string; isFolder: boolean }[]> => {
    const entries = await ifThere(() => fs.promises.readdir(folder, { withFileTypes: true }), []);
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  },
} satisfies JournalFiles & { readonly entries: unknown };

/**
 * For records on a disk of this host. A read takes some microseconds, because recent files are in memory; a thread
 * and a promise for each would keep the event loop busy ten times as long, and a batch that takes over rows makes
 * thousands.
 */
export const syncFiles: JournalFiles = {
  text: (file) => ifThere(() => fs.readFileSync(file, 'utf8'), null),
  names: async (folder) => sorted(await ifThere(() => fs.readdirSync(folder), [])),
};

async function ifThere<T, None>(look: () => T | Promise<T>, none: None): Promise<T | None> {
  try {
    return await look();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return none;
    throw error;
  }
}

function sorted(names: readonly string[]): readonly string[] {
  return [...names].sort();
}
