import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type MediaConfig } from '../../config';
import { type FoundVideoTask } from '../../domain/activities';
import { type JournalKey } from '../../domain/create-journal';
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

/** What a journal has under a creation key. */
export interface FoundKey {
  /** Null while nobody knows what the create came to. */
  readonly taskId: string | null;
}

/** A creation key in the journal of this machine, else in a worker's; undefined when neither has it. */
export async function findKey(
  { client, media }: Connected,
  { journal }: MediaConfig,
  creationKey: string,
  hasWorker: boolean,
): Promise<FoundKey | undefined> {
  const { namespace } = client.options;
  const local = await keyIn(journal, { namespace, creationKey }).catch(() => undefined);
  if (local !== undefined || !hasWorker) return local;
  try {
    const [created] = (await media.reviewJournal({ list: 'created', creationKey })).created;
    if (created !== undefined) return { taskId: created.taskId };
    const { unconfirmed } = await media.reviewJournal({ list: 'unconfirmed', creationKey });
    return unconfirmed.length > 0 ? { taskId: null } : undefined;
  } catch {
    return undefined;
  }
}

async function keyIn(root: string, key: JournalKey): Promise<FoundKey | undefined> {
  // Opening a journal must not make one.
  await access(join(root, 'journal.json'));
  const journal = createFileJournal({ root });
  let found: FoundKey | undefined;
  for (let epoch = 0; ; epoch++) {
    const { slot, outcome, resolution } = await journal.read(key, epoch);
    if (slot === null) return found;
    const answer = outcome?.answer.outcome === 'created' ? outcome.answer : resolution?.answer;
    found = { taskId: answer?.outcome === 'created' ? answer.video.taskId : null };
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
