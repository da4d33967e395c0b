import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type CampaignRecord } from '../domain/campaign/book';
import {
  type CreateJournal,
  type EpochView,
  type JournalIdentity,
  type JournalKey,
  type JournalPlace,
  type OutcomeRecord,
  type Resolution,
  type Slot,
  type TaskIndexEntry,
} from '../domain/create-journal';
import { createIfAbsent } from './create-if-absent';
import { asyncFiles, syncFiles } from './journal-files';
import { hostId } from './host-id';
import { keyFolder, markFile, openFile, openFolder, recordFile, taskFile, taskFolder } from './places';
import { parseCampaignRecord } from './campaign-records';
import { readEpoch } from './read-epoch';
import { parseIdentity, parseIndexEntry, parsePlace } from './records';
import { SEALING_KEY } from './sealed-text';
import { scanFolders } from './scan-folders';

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
 * A journal in files: `<h[0:2]>/<h>/<epoch>.slot|.outcome|.resolution` with h = SHA-256 of namespace and creation key
 * (architecture: Stores), and `campaigns/…/<n>.record` for the logs of campaigns. Create-if-absent by a hard link, every record fsynced with its folder before the call returns.
 */
export function createFileJournal(options: FileJournalOptions): CreateJournal {
  const { root } = options;
  const files = options.shared === true ? asyncFiles : syncFiles;

  const folderOf = (key: JournalKey): string => keyFolder(root, key);

  /** Only a hint, so it is not waited for until it is on the disk, and a failure stops nothing. */
  async function noteOpen(place: JournalPlace, bodyHash: string): Promise<void> {
    try {
      await mkdir(openFolder(root, bodyHash), { recursive: true, mode: 0o700 });
      await writeFile(openFile(root, place, bodyHash), JSON.stringify({ v: 1, ...place }), { mode: 0o600 });
    } catch {
      // The slot that follows says whether the journal can be written.
    }
  }

  /** Name and key come into being together, so that no journal goes on under its name with another key. */
  async function readIdentity(): Promise<ReturnType<typeof parseIdentity>> {
    const file = join(root, 'journal.json');
    const sealingKey = randomBytes(SEALING_KEY).toString('base64');
    await createIfAbsent(file, JSON.stringify({ v: 1, journalId: randomUUID(), sealingKey }));
    return parseIdentity(await readFile(file, 'utf8'));
  }

  return {
    kind: 'file',

    async identity(): Promise<JournalIdentity> {
      const { journalId } = await readIdentity();
      return { journalId, hostId: options.shared ? null : await hostId() };
    },

    async sealingKey(): Promise<Uint8Array> {
      return Buffer.from((await readIdentity()).sealingKey, 'base64');
    },

    async putMark(mark): Promise<void> {
      await createIfAbsent(markFile(root, mark), '');
    },

    async hasMark(mark): Promise<boolean> {
      // The folder is listed: a network file system may remember for a while that there was no such file.
      const file = markFile(root, mark);
      return (await asyncFiles.names(dirname(file), basename(file))).length > 0;
    },

    read: (key, epoch): Promise<EpochView> => readEpoch(folderOf(key), epoch, files),

    async putSlot(key, epoch, slot: Slot): Promise<'won' | 'lost'> {
      // Before the slot, so that a kill between the two leaves a hint too many and never one too few.
      if (slot.kind === 'intent') await noteOpen({ ...key, epoch }, slot.bodyHash);
      // Whoever asks for a later epoch has read the one before. If that is gone since, this slot would stand alone, and
      // the next one to ask would take the key for new.
      const after = epoch > 0 ? { after: `${epoch - 1}.slot` } : {};
      return createIfAbsent(join(folderOf(key), `${epoch}.slot`), JSON.stringify(slot), after);
    },

    putOutcome(key, epoch, outcome: OutcomeRecord): Promise<'won' | 'lost'> {
      return createIfAbsent(join(folderOf(key), `${epoch}.outcome`), JSON.stringify(outcome));
    },

    putResolution(key, epoch, resolution: Resolution): Promise<'won' | 'lost'> {
      return createIfAbsent(join(folderOf(key), `${epoch}.resolution`), JSON.stringify(resolution));
    },

    scan: (after, limit) => scanFolders(root, after, limit),

    async findOpenByBody(bodyHash): Promise<readonly JournalPlace[]> {
      const folder = openFolder(root, bodyHash);
      const names = await asyncFiles.names(folder, '.json');
      // A hint that is gone meanwhile is no hint.
      const texts = await Promise.all(
        names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
      );
      return texts.flatMap((text) => parsePlace(text) ?? []);
    },

    async forgetOpen(place, bodyHash): Promise<void> {
      await unlink(openFile(root, place, bodyHash)).catch(() => undefined);
    },

    async indexTask(entry: TaskIndexEntry): Promise<void> {
      const file = taskFile(root, entry.video.taskId, entry.video.account);
      await createIfAbsent(file, JSON.stringify(entry));
    },

    async findTask(taskId): Promise<readonly TaskIndexEntry[]> {
      const folder = taskFolder(root, taskId);
      const names = await files.names(folder, '.json');
      const texts = await Promise.all(names.map((name) => files.text(join(folder, name))));
      const entries = texts.flatMap((text) => (text === null ? [] : parseIndexEntry(text)));
      return entries.filter((entry) => entry.video.taskId === taskId);
    },

    async readRecord(log, n): Promise<CampaignRecord | null> {
      const text = await files.text(recordFile(root, log, n));
      return text === null ? null : parseCampaignRecord(text);
    },

    putRecord(log, n, record: CampaignRecord): Promise<'won' | 'lost'> {
      return createIfAbsent(recordFile(root, log, n), JSON.stringify(record));
    },

    async checkWritable(): Promise<void> {
      await mkdir(root, { recursive: true });
      await createIfAbsent(join(root, 'checks', `${randomUUID()}.check`), '', { keep: false });
    },
  };
}
