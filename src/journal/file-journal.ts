/**
 * The record of paid sends in files. For workers, and for tests of other journals.
 *
 * @module
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type CampaignLog, type CampaignRecord } from '../domain/campaign/budget-book';
import {
  type CreateJournal,
  type SendAttemptView,
  type JournalIdentity,
  type JournalKey,
  type JournalPage,
  type SendAttemptKey,
  type OutcomeRecord,
  type Resolution,
  type Claim,
  type TaskIndexEntry,
} from '../domain/journal';
import { parseCampaignRecord } from './campaign-records';
import { createIfAbsent } from '../files/create-if-absent';
import { asyncFiles, type JournalFiles, syncFiles } from './journal-files';
import {
  parseIdentity,
  parseIndexEntry,
  parseOutcome,
  parsePlace,
  parseResolution,
  parseClaim,
} from './records';
import { SEALING_KEY } from './sealed-text';

interface FileJournalOptions {
  /** Folder of the journal; created when missing. */
  readonly root: string;
  /**
   * Declares that the file system is shared by several hosts and linearizable for exclusive creates.
   * @default false: the journal is bound to this host
   */
  readonly shared?: boolean;
}

/**
 * A journal in files: `<h[0:2]>/<h>/<sendAttempt>.claim|.outcome|.resolution` with h = SHA-256 of namespace and
 * creation key (architecture: Stores), and `campaigns/…/<n>.record` for the logs of campaigns. Create-if-absent by a
 * hard link; every record is fsynced with its folder before the call returns.
 */
export function createFileJournal(options: FileJournalOptions): CreateJournal {
  const { root } = options;
  const files = options.shared === true ? asyncFiles : syncFiles;

  const folderOf = (key: JournalKey): string => keyFolder(root, key);

  /** Only a hint: it is not synced to the disk, and a failure is ignored. */
  async function noteOpen(place: SendAttemptKey, bodyHash: string): Promise<void> {
    try {
      await mkdir(openFolder(root, bodyHash), { recursive: true, mode: 0o700 });
      await writeFile(openFile(root, place, bodyHash), JSON.stringify({ v: 1, ...place }), { mode: 0o600 });
    } catch {
      // The claim that follows shows whether the journal can be written.
    }
  }

  /** Id and key are created together, so that no journal continues under its id with another key. */
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
      // Lists the folder, because a network file system may cache that the file does not exist.
      const file = markFile(root, mark);
      return (await asyncFiles.names(dirname(file), basename(file))).length > 0;
    },

    read: (key, sendAttempt): Promise<SendAttemptView> => readSendAttempt(folderOf(key), sendAttempt, files),

    async putClaim(key, sendAttempt, claim: Claim): Promise<'won' | 'lost'> {
      // Before the claim, so that a kill between the two leaves a superfluous hint and never a missing one.
      if (claim.kind === 'intent') await noteOpen({ ...key, sendAttempt }, claim.bodyHash);
      // The caller of a later send attempt has read the one before. If that is gone since, this claim would be the
      // only one, and the next caller would take the key for new.
      const after = sendAttempt > 0 ? { after: `${sendAttempt - 1}.claim` } : {};
      return createIfAbsent(join(folderOf(key), `${sendAttempt}.claim`), JSON.stringify(claim), after);
    },

    putOutcome(key, sendAttempt, outcome: OutcomeRecord): Promise<'won' | 'lost'> {
      return createIfAbsent(join(folderOf(key), `${sendAttempt}.outcome`), JSON.stringify(outcome));
    },

    putResolution(key, sendAttempt, resolution: Resolution): Promise<'won' | 'lost'> {
      return createIfAbsent(join(folderOf(key), `${sendAttempt}.resolution`), JSON.stringify(resolution));
    },

    scan: (after, limit) => scanFolders(root, after, limit),

    async findOpenByBody(bodyHash): Promise<readonly SendAttemptKey[]> {
      const folder = openFolder(root, bodyHash);
      const names = await asyncFiles.names(folder, '.json');
      // A hint may be removed meanwhile.
      const places = await Promise.all(
        names.map((name) => readFile(join(folder, name), 'utf8').then(parsePlace, () => undefined)),
      );
      return places.flatMap((place) => place ?? []);
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

/** Folder of the records of a creation key: `<h[0:2]>/<h>` (architecture: Stores). */
export function keyFolder(root: string, { namespace, creationKey }: JournalKey): string {
  const hash = sha256(`${namespace}\n${creationKey}`);
  return join(root, hash.slice(0, 2), hash);
}

/** Folder of the index entries of a task id, one per account. */
export function taskFolder(root: string, taskId: string): string {
  const hash = sha256(taskId);
  return join(root, 'tasks', hash.slice(0, 2), hash);
}

export function taskFile(root: string, taskId: string, account: string): string {
  return join(taskFolder(root, taskId), `${sha256(account).slice(0, 16)}.json`);
}

/** Folder of the hints to send attempts that have an intent for this body and may still be open. */
export function openFolder(root: string, bodyHash: string): string {
  const hash = sha256(bodyHash);
  return join(root, 'open', hash.slice(0, 2), hash);
}

export function openFile(root: string, place: SendAttemptKey, bodyHash: string): string {
  const key = sha256(`${place.namespace}\n${place.creationKey}`);
  return join(openFolder(root, bodyHash), `${key}.${place.sendAttempt}.json`);
}

/** File of a mark that a ledger was sent. */
function markFile(root: string, mark: string): string {
  return join(root, 'marks', `${sha256(mark)}.mark`);
}

/** File of a record of a campaign's log, beside the creation keys. */
function recordFile(root: string, { namespace, name }: CampaignLog, n: number): string {
  const hash = sha256(`${namespace}\n${name}`);
  return join(root, 'campaigns', hash.slice(0, 2), hash, `${n}.record`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Reads the files of one send attempt. */
async function readSendAttempt(
  folder: string,
  sendAttempt: number,
  files: JournalFiles = asyncFiles,
): Promise<SendAttemptView> {
  // Most creates have a new key, and most send attempts have no resolution: one listing instead of three reads that
  // find nothing.
  const names = (await files.names(folder, '')).filter((name) => name.startsWith(`${sendAttempt}.`));
  if (names.length === 0) return { claim: null, outcome: null, resolution: null };
  const read = (name: string) => (names.includes(name) ? files.text(join(folder, name)) : null);
  const resolution = await read(`${sendAttempt}.resolution`);
  const outcome = await read(`${sendAttempt}.outcome`);
  // The claim last, and also when the listing lacks it: it is older than the others, so that no view has an outcome
  // without it.
  const claim = await files.text(join(folder, `${sendAttempt}.claim`));
  return {
    claim: claim === null ? null : parseClaim(claim),
    outcome: outcome === null ? null : parseOutcome(outcome),
    resolution: resolution === null ? null : parseResolution(resolution),
  };
}

/**
 * A stable name of this host for file journals: the digest of its machine id, else of its host name.
 * `MEDIA_HOST_ID` overrides both where neither is stable (containers on one volume).
 */
export async function hostId(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env['MEDIA_HOST_ID'];
  const source = named ?? (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim();
  return createHash('sha256')
    .update(source === '' ? hostname() : source)
    .digest('hex')
    .slice(0, 16);
}

/** The folder of one creation key. */
export interface KeyFolder {
  /** Its name: the digest of namespace and key. */
  readonly hash: string;
  readonly path: string;
  readonly parent: string;
}

/** The folders of creation keys in the order of their names, only those after `after`. */
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

/** All send attempts of a key that have a claim, in order. */
export async function readSendAttempts(
  folder: string,
): Promise<(SendAttemptView & { sendAttempt: number })[]> {
  const sendAttempts = (await asyncFiles.names(folder, '.claim')).map((name) => Number.parseInt(name, 10));
  return Promise.all(
    sendAttempts
      .sort((a, b) => a - b)
      .map(async (sendAttempt) => ({ sendAttempt, ...(await readSendAttempt(folder, sendAttempt)) })),
  );
}

/** One page of creation keys; `next` is the name of the last folder. */
async function scanFolders(root: string, after: string | null, limit: number): Promise<JournalPage> {
  const keys: JournalPage['keys'][number][] = [];
  for await (const { hash, path } of keyFolders(root, after ?? undefined)) {
    keys.push({ sendAttempts: await readSendAttempts(path) });
    if (keys.length >= limit) return { keys, next: hash };
  }
  return { keys, next: null };
}

export { JournalRecordError } from './records';
