import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of all files below a folder; none when it is not there. */
export const filesIn = async (path: string): Promise<string[]> =>
  (await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
