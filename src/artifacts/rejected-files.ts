import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { otherwise } from '../domain/bug';
import { removeIfThere } from '../files/create-if-absent';
import { systemCode } from '../files/system-code';
import { type PrunedBytes, type PruneRejected, toArtifactError } from './artifact-store';

/** Removes the refused bytes of a folder that were written before a time; they have no other name and no reader. */
export async function pruneRejectedFiles(
  folder: string,
  { before, dryRun }: PruneRejected,
): Promise<PrunedBytes> {
  const counts = { removed: 0, removedBytes: 0 };
  try {
    for (const name of await readdir(folder)) {
      if (!name.endsWith('.rejected')) continue;
      const path = join(folder, name);
      const found = await stat(path).catch(otherwise(undefined));
      if (found === undefined || !(found.mtimeMs < before)) continue;
      if (!dryRun) await removeIfThere(path);
      counts.removed += 1;
      counts.removedBytes += found.size;
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw toArtifactError(error);
  }
  return counts;
}
