import { readdir } from 'node:fs/promises';

/** Names in a folder that end so, sorted; none when there is no such folder. */
export async function filesIn(folder: string, ending: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(ending)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
