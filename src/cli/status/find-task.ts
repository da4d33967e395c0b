import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type MediaConfig } from '../../config';
import { type FoundVideoTask } from '../../domain/activities';
import { createFileJournal } from '../../journal/file-journal';
import { type Connected } from '../connect';

/** How long a worker is waited for, in milliseconds. */
const WORKER_MS = 20_000;

export interface LocalFinding {
  readonly found: FoundVideoTask;
  /** Further accounts that have had a task of this id. */
  readonly otherAccounts: readonly string[];
}

/** The journal of this machine, when MEDIA_JOURNAL or the data directory has one: needs no worker. */
export async function findInLocalJournal(
  { journal }: MediaConfig,
  taskId: string,
): Promise<LocalFinding | undefined> {
  try {
    // Opening a journal must not make one.
    await access(join(journal, 'journal.json'));
    const [entry, ...others] = await createFileJournal({ root: journal }).findTask(taskId);
    if (entry === undefined) return undefined;
    const { video, creationKey, workflowId, runId } = entry;
    return {
      found: { video: { ...video, source: 'journal' }, creationKey, workflowId, runId },
      otherAccounts: others.map((other) => other.video.account),
    };
  } catch {
    return undefined;
  }
}

/** A worker's journal and, with `askService`, the service; undefined when no worker answers. */
export async function askWorker(
  { media }: Connected,
  taskId: string,
  askService: boolean,
): Promise<FoundVideoTask | undefined> {
  return media.findTask(taskId, { askService, timeoutMs: WORKER_MS }).catch(() => undefined);
}
