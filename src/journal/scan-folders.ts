import { join } from 'node:path';
import { type EpochView, type JournalPage } from '../domain/create-journal';
import { filesIn } from './files-in';
import { readEpoch } from './read-epoch';

/** One page of the folders of creation keys, in the order of their names; `next` is the last folder's name. */
export async function scanFolders(root: string, after: string | null, limit: number): Promise<JournalPage> {
  const keys: JournalPage['keys'][number][] = [];
  const firsts = (await filesIn(root, '')).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const first of firsts) {
    if (after !== null && first < after.slice(0, 2)) continue;
    for (const hash of await filesIn(join(root, first), '')) {
      if (!/^[0-9a-f]{64}$/.test(hash) || (after !== null && hash <= after)) continue;
      keys.push({ epochs: await epochsOf(join(root, first, hash)) });
      if (keys.length >= limit) return { keys, next: hash };
    }
  }
  return { keys, next: null };
}

async function epochsOf(folder: string): Promise<(EpochView & { epoch: number })[]> {
  const epochs = (await filesIn(folder, '.slot')).map((name) => Number.parseInt(name, 10));
  return Promise.all(
    epochs.sort((a, b) => a - b).map(async (epoch) => ({ epoch, ...(await readEpoch(folder, epoch)) })),
  );
}
