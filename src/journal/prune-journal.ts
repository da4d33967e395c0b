import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isOpenFate, type EpochView, type SlotIntent } from '../domain/create-journal';
import { syncFolder } from './create-if-absent';
import { taskFile } from './places';
import { keyFolders, readEpochs } from './scan-folders';

export interface PruneOptions {
  readonly root: string;
  /** Keys whose newest record is younger stay. */
  readonly before: Date;
  /** Only count. */
  readonly dryRun: boolean;
  /** Whether the workflow that sent it still runs: its key is still in use. */
  readonly stillRuns: (slot: SlotIntent) => Promise<boolean>;
}

export interface Pruned {
  readonly keys: number;
  readonly removed: number;
  /** Of unknown fate, and nobody has decided: never removed. */
  readonly keptOpen: number;
  readonly keptRunning: number;
  readonly keptYoung: number;
}

/**
 * Removes the records of creation keys that nothing can ask for any more. A key goes as a whole, by one rename: a part of
 * it would be read as "nothing was sent here". What waits for a decision stays.
 */
export async function pruneJournal(options: PruneOptions): Promise<Pruned> {
  const counts = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0 };
  for await (const folder of keyFolders(options.root, null)) {
    counts.keys += 1;
    const epochs = await readEpochs(folder.path);
    const kept = await reasonToKeep(epochs, options);
    if (kept !== undefined) counts[kept] += 1;
    else {
      counts.removed += 1;
      if (!options.dryRun) await remove(options.root, folder, epochs);
    }
  }
  return counts;
}

type Epoch = EpochView & { readonly epoch: number };

async function reasonToKeep(
  epochs: readonly Epoch[],
  { before, stillRuns }: PruneOptions,
): Promise<'keptOpen' | 'keptRunning' | 'keptYoung' | undefined> {
  const times = epochs.flatMap(({ slot, outcome, resolution }) => [slot?.at, outcome?.at, resolution?.at]);
  // A time that cannot be read counts as now.
  if (times.some((at) => at !== undefined && !(Date.parse(at) < before.getTime()))) return 'keptYoung';
  if (epochs.some((view) => isOpenFate(view) && !view.resolution)) return 'keptOpen';
  for (const { slot } of epochs) if (slot?.kind === 'intent' && (await stillRuns(slot))) return 'keptRunning';
  return undefined;
}

async function remove(
  root: string,
  folder: { readonly path: string; readonly parent: string },
  epochs: readonly Epoch[],
): Promise<void> {
  const trash = join(root, 'trash');
  await mkdir(trash, { recursive: true, mode: 0o700 });
  const gone = join(trash, randomUUID());
  await rename(folder.path, gone);
  await syncFolder(folder.parent);
  for (const { outcome, resolution } of epochs) {
    for (const answer of [outcome?.answer, resolution?.answer])
      if (answer?.outcome === 'created')
        await unlink(taskFile(root, answer.video.taskId, answer.video.account)).catch(() => undefined);
  }
  await rm(gone, { recursive: true, force: true });
}
