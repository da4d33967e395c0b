import { join } from 'node:path';
import { type EpochView, type JournalPage } from '../domain/create-journal';
import { asyncFiles } from './journal-files';
import { readEpoch } from './read-epoch';

/** The folder of one creation key. */
export interface KeyFolder {
  /** Its name: the digest of namespace and key. */
  readonly hash: string;
  readonly path: string;
  readonly parent: string;
}

/** The folders of creation keys in the order of their names, those after `after` only. */
export async function* keyFolders(root: string, after = ''): AsyncGenerator<KeyFolder> {
  const firsts = (await asyncFiles.names(root, '')).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const first of firsts) {
    if (first < after.slice(0, 2)) continue;
    const parent = join(root, first);
    for (const hash of await asyncFiles.names(parent, '')) {
      if (!/^[0-9a-f]{64}$/.test(hash) || hash <= after) continue;
      yield { hash, path: join(parent, hash), parent };
    }
  }
}

/** Every epoch of a key that has a slot, in order. */
export async function readEpochs(folder: string): Promise<(EpochView & { epoch: number })[]> {
  const epochs = (await asyncFiles.names(folder, '.slot')).map((name) => Number.parseInt(name, 10));
  return Promise.all(
    epochs.sort((a, b) => a - b).map(async (epoch) => ({ epoch, ...(await readEpoch(folder, epoch)) })),
  );
}

/** One page of creation keys; `next` is the name of the last folder. */
export async function scanFolders(root: string, after: string | null, limit: number): Promise<JournalPage> {
  const keys: JournalPage['keys'][number][] = [];
  for await (const { hash, path } of keyFolders(root, after ?? undefined)) {
    keys.push({ epochs: await readEpochs(path) });
    if (keys.length >= limit) return { keys, next: hash };
  }
  return { keys, next: null };
}
