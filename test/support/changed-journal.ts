import { cp, rename, rm } from 'node:fs/promises';

/**
 * What becomes of the journal of a worker that was killed: its folder is gone, an earlier copy of it comes back, or the
 * queue is given to another one. Each time the next worker starts with `--rebind`.
 */
export type JournalChange = 'lost' | 'restored' | 'rebound';

export const JOURNAL_CHANGES: readonly JournalChange[] = ['lost', 'restored', 'rebound'];

const copyOf = (folder: string): string => `${folder}-copy`;

/** Keeps what `restored` brings back. */
export async function copyJournal(folder: string): Promise<void> {
  await cp(folder, copyOf(folder), { recursive: true });
}

/** While no worker runs. Resolves with the folder of the journal that the queue is to be bound to. */
export async function changeJournal(change: JournalChange, folder: string): Promise<string> {
  if (change === 'rebound') return `${folder}-other`;
  await rm(folder, { recursive: true });
  if (change === 'restored') await rename(copyOf(folder), folder);
  return folder;
}

/** For a title. */
export const CHANGED: Readonly<Record<JournalChange, string>> = {
  lost: 'its journal lost',
  restored: 'its journal restored from an earlier copy',
  rebound: 'its queue bound to another journal',
};
