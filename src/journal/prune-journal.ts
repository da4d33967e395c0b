import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type SendAttemptView, isUndecided, type ClaimIntent } from '../domain/journal';
import { linkIfAbsent } from '../files/create-if-absent';
import { syncFolder } from '../files/durable-folders';
import { asyncFiles } from './journal-files';
import { type KeyFolder, keyFolders, openFile, readSendAttempts, taskFile } from './file-journal';

export interface PruneOptions {
  readonly root: string;
  /** Keys whose newest record is younger are kept. */
  readonly before: Date;
  /** Counts without removing. */
  readonly dryRun: boolean;
  /** Whether the workflow that sent it runs, or can still be reset: its key is in use. */
  readonly inUse: (claim: ClaimIntent) => Promise<boolean>;
}

export interface Pruned {
  readonly keys: number;
  readonly removed: number;
  /** Of unknown fate and undecided: never removed. */
  readonly keptOpen: number;
  /** Their workflow runs, or the server still has it. */
  readonly keptRunning: number;
  readonly keptYoung: number;
}

/**
 * Removes the records of creation keys that can no longer be used. A key is removed as a whole, by one rename: a part
 * of it would be read as "nothing was sent here". Keys that wait for a decision are kept.
 */
export async function pruneJournal(options: PruneOptions): Promise<Pruned> {
  const { root, dryRun } = options;
  const counts = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0 };
  if (!dryRun) await emptyTrash(options);
  for await (const folder of keyFolders(root)) {
    counts.keys += 1;
    const kept =
      (await reasonToKeep(await readSendAttempts(folder.path), options)) ?? (await removed(folder, options));
    counts[kept] += 1;
  }
  return counts;
}

type SendAttempt = SendAttemptView & { readonly sendAttempt: number };

async function reasonToKeep(
  sendAttempts: readonly SendAttempt[],
  options: PruneOptions,
): Promise<'keptOpen' | 'keptRunning' | 'keptYoung' | undefined> {
  const kept = unsettled(sendAttempts, options);
  if (kept !== undefined) return kept;
  for (const { claim } of sendAttempts)
    if (claim?.kind === 'intent' && (await options.inUse(claim))) return 'keptRunning';
  return undefined;
}

function unsettled(
  sendAttempts: readonly SendAttempt[],
  { before }: PruneOptions,
): 'keptOpen' | 'keptYoung' | undefined {
  // A folder without a claim is about to get one.
  if (sendAttempts.length === 0) return 'keptYoung';
  const times = sendAttempts.flatMap(({ claim, outcome, resolution }) => [
    claim?.at,
    outcome?.at,
    resolution?.at,
  ]);
  // An unreadable time counts as now.
  if (times.some((at) => at !== undefined && !(Date.parse(at) < before.getTime()))) return 'keptYoung';
  return sendAttempts.some(isUndecided) ? 'keptOpen' : undefined;
}

/** Removes a key, unless a record was written to it while the server was queried or during the removal. */
async function removed(
  { path, parent, hash }: KeyFolder,
  options: PruneOptions,
): Promise<'removed' | 'keptOpen' | 'keptYoung'> {
  const { root, dryRun } = options;
  const sendAttempts = await readSendAttempts(path);
  const kept = unsettled(sendAttempts, options);
  if (kept !== undefined || dryRun) return kept ?? 'removed';
  const trash = join(root, TRASH);
  await mkdir(trash, { recursive: true, mode: 0o700 });
  const gone = join(trash, `${hash}.${randomUUID()}`);
  await rename(path, gone);
  const late = unsettled(await readSendAttempts(gone), options);
  if (late !== undefined) {
    await putBack(gone, { path, parent });
    return late;
  }
  await syncFolder(parent);
  await Promise.all(pointersTo(sendAttempts, root).map((file) => unlink(file).catch(() => undefined)));
  await rm(gone, { recursive: true, force: true });
  return 'removed';
}

/** Files outside the key's folder that refer to it. */
function pointersTo(sendAttempts: readonly SendAttempt[], root: string): string[] {
  return sendAttempts.flatMap(({ sendAttempt, claim, outcome, resolution }) => {
    const tasks = [outcome?.answer, resolution?.answer].flatMap((answer) =>
      answer?.outcome === 'created' ? [taskFile(root, answer.video.taskId, answer.video.account)] : [],
    );
    if (claim?.kind !== 'intent') return tasks;
    const { namespace, creationKey, bodyHash } = claim;
    return [...tasks, openFile(root, { namespace, creationKey, sendAttempt }, bodyHash)];
  });
}

const TRASH = 'trash';

/**
 * Removes what a killed prune left behind: nothing refers to it, except records that were written at that very
 * moment.
 */
async function emptyTrash(options: PruneOptions): Promise<void> {
  const trash = join(options.root, TRASH);
  for (const name of await asyncFiles.names(trash, '')) {
    const gone = join(trash, name);
    const hash = /^([0-9a-f]{64})\./.exec(name)?.[1];
    if (hash !== undefined) {
      const sendAttempts = await readSendAttempts(gone);
      // Only a young key had a late write: an old one may be half removed, and then looks open.
      if (sendAttempts.length > 0 && unsettled(sendAttempts, options) === 'keptYoung') {
        const parent = join(options.root, hash.slice(0, 2));
        await putBack(gone, { path: join(parent, hash), parent });
        continue;
      }
    }
    await rm(gone, { recursive: true, force: true });
  }
}

/** Moves a key back, also when a writer has created its folder again: existing files are kept. */
async function putBack(gone: string, { path, parent }: Pick<KeyFolder, 'path' | 'parent'>): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  for (const name of await asyncFiles.names(gone, '')) {
    await linkIfAbsent(join(gone, name), join(path, name));
  }
  await syncFolder(path);
  await syncFolder(parent);
  await rm(gone, { recursive: true, force: true });
}
