import { randomBytes, randomUUID } from 'node:crypto';
import { type CampaignRecord } from '../../domain/campaign/budget-book';
import {
  type CreateJournal,
  type EntryPlace,
  type JournalIdentity,
  type JournalPage,
  type TaskIndexEntry,
} from '../../domain/journal';
import { type JournalKey, type LogEntry } from '../../domain/log-entries';
import { type RecordStore } from './record-store';
import {
  campaignName,
  entryName,
  hashIn,
  IDENTITY,
  JournalRecordError,
  keyPrefix,
  KEYS,
  markName,
  numberIn,
  openName,
  openPrefix,
  parseCampaignRecord,
  parseEntry,
  parseIdentity,
  parseIndexEntry,
  parsePlace,
  parseRemoval,
  prefixOfHash,
  removalName,
  sha256,
  taskName,
  taskPrefix,
} from './records';

/** Names per listing page: the records of a few hundred keys. */
const NAMES_PER_PAGE = 1_000;
const SEALING_KEY_BYTES = 32;

/**
 * Creates the journal of paid sends on any record store: files, a bucket, a table or a custom store
 * (architecture: Stores). Its guarantees depend only on the store's guarantees.
 */
export function createJournal(records: RecordStore): CreateJournal {
  return {
    kind: records.kind,

    async identity(): Promise<JournalIdentity> {
      const { journalId } = await readIdentity(records);
      return { journalId, hostId: (await records.host?.()) ?? null };
    },

    async sealingKey(): Promise<Uint8Array> {
      return Buffer.from((await readIdentity(records)).sealingKey, 'base64');
    },

    async putMark(mark): Promise<void> {
      await records.create(markName(mark), '');
    },

    async hasMark(mark): Promise<boolean> {
      // Use a listing, because a network file system may cache that a file did not exist.
      return (await records.names(markName(mark), null, 1)).length > 0;
    },

    read: (key) => readLog(records, key),
    append: (key, n, entry) => appendEntry(records, key, n, entry),
    scan: (after, limit) => scanLogs(records, after, limit),
    findOpenByBody: (bodyHash) => findOpen(records, bodyHash),

    async forgetOpen(intent, bodyHash): Promise<void> {
      await records.note(openName(intent, bodyHash), null);
    },

    async indexTask(entry: TaskIndexEntry): Promise<void> {
      await records.create(taskName(entry.video.taskId, entry.video.account), JSON.stringify(entry));
    },

    async findTask(taskId): Promise<readonly TaskIndexEntry[]> {
      const texts = [...(await records.readAll(taskPrefix(taskId))).values()];
      return texts.map(parseIndexEntry).filter((entry) => entry.video.taskId === taskId);
    },

    async readRecord(log, n): Promise<CampaignRecord | null> {
      const text = await records.read(campaignName(log, n));
      return text === null ? null : parseCampaignRecord(text);
    },

    putRecord: (log, n, record) => records.create(campaignName(log, n), JSON.stringify(record)),

    checkWritable: () => checkStore(records),
  };
}

/** Creates the ID and the key together, so a journal never keeps its ID with a different key. */
async function readIdentity(records: RecordStore): Promise<ReturnType<typeof parseIdentity>> {
  const text = await records.read(IDENTITY);
  if (text !== null) return parseIdentity(text);
  const sealingKey = randomBytes(SEALING_KEY_BYTES).toString('base64');
  await records.create(IDENTITY, JSON.stringify({ v: 1, journalId: randomUUID(), sealingKey }));
  return parseIdentity((await records.read(IDENTITY)) ?? '');
}

async function readLog(records: RecordStore, key: JournalKey): Promise<readonly LogEntry[]> {
  const prefix = keyPrefix(key);
  const found = await records.readAll(prefix);
  const length = Math.max(-1, ...[...found.keys()].flatMap((name) => numberIn(name) ?? [])) + 1;
  const entries: LogEntry[] = [];
  for (let n = 0; n < length; n++) {
    const name = entryName(prefix, n);
    // A concurrent listing may miss this entry, although it is older than the entries after it. Read it directly.
    const text = found.get(name) ?? (await records.read(name));
    if (text === null) throw new JournalRecordError(LOST);
    entries.push(parseEntry(text));
  }
  return entries;
}

async function appendEntry(
  records: RecordStore,
  key: JournalKey,
  n: number,
  entry: LogEntry,
): Promise<'won' | 'lost'> {
  // The writer of a later entry has read the earlier ones, so they must exist. A send's answer is the exception: it is
  // stored even if those entries are gone.
  const follows = n > 0 && entry.kind !== 'answer';
  if (follows) await requireEarlier(records, key, n);
  // Write the hint before the intent: a kill between the two then leaves an extra hint, never a missing one.
  if (entry.kind === 'intent') {
    const { namespace, creationKey } = key;
    const place = { namespace, creationKey, n };
    await records.note(openName(place, entry.bodyHash), JSON.stringify({ v: 1, ...place }));
  }
  const end = await records.create(entryName(keyPrefix(key), n), JSON.stringify(entry));
  // If the earlier entries were removed in the meantime, the log is unreadable.
  if (follows) await requireEarlier(records, key, n);
  return end;
}

async function requireEarlier(records: RecordStore, key: JournalKey, n: number): Promise<void> {
  const prefix = keyPrefix(key);
  // Check in this order: a removal deletes its note last, so a log with its earlier entry but no note is complete.
  const removal = await records.read(removalName(prefix));
  if (removal !== null && (await isUnderRemoval(records, prefix, removal))) {
    throw new JournalRecordError(
      'A journal prune is removing the records of this creation key, or was killed while doing so. Nothing is sent under this key. If this persists for an hour, run `temporal-media journal prune` again to complete the removal.',
    );
  }
  if ((await records.read(entryName(prefix, n - 1))) === null) throw new JournalRecordError(LOST);
}

/**
 * Whether a removal is still in progress. A removal deletes the first entry last. So if the first entry is not listed
 * in the note, all listed entries are gone: the prune was killed before it deleted the note, and the key has been
 * reused.
 */
async function isUnderRemoval(records: RecordStore, prefix: string, note: string): Promise<boolean> {
  const first = await records.read(entryName(prefix, 0));
  return first === null || parseRemoval(note).entries.includes(sha256(first));
}

/** Keys that a scan reads at the same time, so that it does not wait for each of a bucket's or database's replies. */
const KEYS_AT_ONCE = 32;

async function scanLogs(records: RecordStore, after: string | null, limit: number): Promise<JournalPage> {
  const logs: (readonly LogEntry[])[] = [];
  let keys: KeyRecords[] = [];
  const take = async (): Promise<void> => {
    const texts = await records.readMany?.(keys.flatMap(({ names }) => names));
    const source = texts === undefined ? records : { read: async (name: string) => texts.get(name) ?? null };
    const read = await Promise.all(keys.map((key) => readKey(source, key)));
    logs.push(...read.filter((log) => log.length > 0).map((log) => log.map(({ entry }) => entry)));
    keys = [];
  };
  for await (const key of keysIn(records, after)) {
    keys.push(key);
    if (keys.length < Math.min(KEYS_AT_ONCE, limit - logs.length)) continue;
    await take();
    if (logs.length >= limit) return { logs, next: key.hash };
  }
  await take();
  return { logs, next: null };
}

async function readKey(source: Pick<RecordStore, 'read'>, { hash, names }: KeyRecords) {
  try {
    return await readEntries(source, names);
  } catch (error) {
    if (error instanceof JournalRecordError) error.next = hash;
    throw error;
  }
}

async function findOpen(records: RecordStore, bodyHash: string): Promise<readonly EntryPlace[]> {
  const places: EntryPlace[] = [];
  for await (const names of namePages(records, openPrefix(bodyHash))) {
    // A hint may have just been removed. A half-written hint is ignored, because its intent was never written.
    const texts = await Promise.all(names.map((name) => records.read(name)));
    places.push(...texts.flatMap((text) => (text === null ? [] : (parsePlace(text) ?? []))));
  }
  return places;
}

const LOST =
  'The journal has lost an earlier entry for this creation key: it was just pruned, or part of the journal is missing. Nothing is sent under this key.';

/** How many concurrent callers check that exactly one of them can create a record. */
const PROBES = 4;

/**
 * Checks that the store is writable and that exactly one of several callers can create a record. A store that ignores
 * this condition would let a video be bought twice. @throws JournalRecordError, or the store's error
 */
async function checkStore(records: RecordStore): Promise<void> {
  await records.check?.();
  const name = `checks/${randomUUID()}.check`;
  const ends = await Promise.all(Array.from({ length: PROBES }, () => records.create(name, randomUUID())));
  await records.remove(name);
  const winners = ends.filter((end) => end === 'won').length;
  if (winners === 1) return;
  throw new JournalRecordError(
    `The journal's store let ${winners} of ${PROBES} callers create the same record. It does not support create-if-absent (S3: If-None-Match; a folder: hard links) and cannot prevent a video from being bought twice, so nothing is sent. Use another store.`,
  );
}

export interface KeyRecords {
  /** Digest of the namespace and the key. */
  readonly hash: string;
  readonly names: readonly string[];
}

/** Yields all creation keys whose digests are greater than `after`, in digest order. */
export async function* keysIn(records: RecordStore, after: string | null = null): AsyncGenerator<KeyRecords> {
  let open: { hash: string; names: string[] } | undefined;
  // '~' sorts after every character of a name.
  for await (const page of namePages(records, KEYS, after === null ? null : `${prefixOfHash(after)}~`)) {
    for (const name of page) {
      const hash = hashIn(name);
      if (hash === undefined) continue;
      if (open?.hash !== hash) {
        if (open !== undefined) yield open;
        open = { hash, names: [] };
      }
      open.names.push(name);
    }
  }
  if (open !== undefined) yield open;
}

/** Yields all names with a prefix that sort after `after`, page by page. */
export async function* namePages(
  records: RecordStore,
  prefix: string,
  after: string | null = null,
): AsyncGenerator<readonly string[]> {
  let last = after;
  for (;;) {
    const page = await records.names(prefix, last, NAMES_PER_PAGE);
    yield page;
    if (page.length < NAMES_PER_PAGE) return;
    last = page.at(-1) ?? null;
  }
}

export interface StoredEntry {
  readonly n: number;
  readonly name: string;
  readonly digest: string;
  readonly entry: LogEntry;
}

/** Reads the entries among a key's records, in order. The key may be half removed or still growing. */
export async function readEntries(
  records: Pick<RecordStore, 'read'>,
  names: readonly string[],
): Promise<readonly StoredEntry[]> {
  const read = names.map(async (name): Promise<readonly StoredEntry[]> => {
    const n = numberIn(name);
    const text = n === undefined ? null : await records.read(name);
    if (n === undefined || text === null) return [];
    return [{ n, name, digest: sha256(text), entry: parseEntry(text) }];
  });
  return (await Promise.all(read)).flat().sort((one, other) => one.n - other.n);
}
