import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Searched, searched } from '../../support/canary';

/** Names and contents of every file below a folder; one that goes away meanwhile was there by its name. */
export async function filesOf(folder: string): Promise<Searched[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(
    files.map(async (file) => searched(relative(folder, file), await readFile(file).catch(() => ''))),
  );
  return [searched('names', entries.map(({ name }) => name).join('\n')), ...contents];
}
