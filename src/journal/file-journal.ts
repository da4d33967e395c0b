import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CreateJournal,
  type EpochView,
  type JournalIdentity,
  type JournalKey,
  type OutcomeRecord,
  type Slot,
  type TaskIndexEntry,
} from '../domain/create-journal';
import { createIfAbsent } from './create-if-absent';
import { hostId } from './host-id';
import { parseIdentity, parseIndexEntry, parseOutcome, parseSlot } from './records';

export interface FileJournalOptions {
  /** Folder of the journal; made when missing. */
  readonly root: string;
  /**
   * Declares that the file system is shared by several hosts and linearizable for exclusive creates.
   * @default false: the journal is bound to this host
   */
  readonly shared?: boolean;
}

/**
 * A journal in files: `<h[0:2]>/<h>/<epoch>.slot|.outcome` with h = SHA-256 of namespace and creation key (design 4.9).
 * Create-if-absent by a hard link, every record fsynced with its folder before the call returns.
 */
export function createFileJournal(options: FileJournalOptions): CreateJournal {
  const { root } = options;

  const folderOf = (key: JournalKey): string => {
    const hash = sha256(`${key.namespace}\n${key.creationKey}`);
    return join(root, hash.slice(0, 2), hash);
  };
  const tasksOf = (taskId: string): string => {
    const hash = sha256(taskId);
    return join(root, 'tasks', hash.slice(0, 2), hash);
  };

  return {
    kind: 'file',

    async identity(): Promise<JournalIdentity> {
      const file = join(root, 'journal.json');
      await createIfAbsent(file, JSON.stringify({ v: 1, journalId: randomUUID() }));
      const { journalId } = parseIdentity(await readFile(file, 'utf8'));
      return { journalId, hostId: options.shared ? null : await hostId() };
    },

    async read(key, epoch): Promise<EpochView> {
      const folder = folderOf(key);
      // The outcome first: a slot is always older than its outcome, so no view has an outcome without its slot.
      const outcome = await readIfThere(join(folder, `${epoch}.outcome`));
      const slot = await readIfThere(join(folder, `${epoch}.slot`));
      return {
        slot: slot === null ? null : parseSlot(slot),
        outcome: outcome === null ? null : parseOutcome(outcome),
      };
    },

    putSlot(key, epoch, slot: Slot): Promise<'won' | 'lost'> {
      return createIfAbsent(join(folderOf(key), `${epoch}.slot`), JSON.stringify(slot));
    },

    putOutcome(key, epoch, outcome: OutcomeRecord): Promise<'won' | 'lost'> {
      return createIfAbsent(join(folderOf(key), `${epoch}.outcome`), JSON.stringify(outcome));
    },

    async indexTask(entry: TaskIndexEntry): Promise<void> {
      const file = join(tasksOf(entry.video.taskId), `${sha256(entry.video.account).slice(0, 16)}.json`);
      await createIfAbsent(file, JSON.stringify(entry));
    },

    async findTask(taskId): Promise<readonly TaskIndexEntry[]> {
      const folder = tasksOf(taskId);
      const names = (await namesIn(folder)).filter((name) => name.endsWith('.json'));
      const entries = await Promise.all(
        names.map(async (name) => parseIndexEntry(await readFile(join(folder, name), 'utf8'))),
      );
      return entries.filter((entry) => entry.video.taskId === taskId);
    },

    async checkWritable(): Promise<void> {
      await mkdir(root, { recursive: true });
      await createIfAbsent(join(root, 'checks', `${randomUUID()}.check`), '', { keep: false });
    },
  };
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
