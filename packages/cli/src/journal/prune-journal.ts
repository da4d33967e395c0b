import {
  billedBeyondCharge,
  isOfSender,
  type Send,
  type SenderEntry,
} from 'temporal-media/internal/domain/log-entries';
import { spendWindow } from 'temporal-media/internal/domain/money';
import { stateOf } from 'temporal-media/internal/domain/paid-log';
import {
  type KeyRecords,
  keysIn,
  namePages,
  readEntries,
  type StoredEntry,
} from 'temporal-media/internal/stores/journal/create-journal';
import {
  CAMPAIGNS,
  JournalRecordError,
  openName,
  parseCampaignRecord,
  parseRemoval,
  prefixOfHash,
  removalName,
  taskName,
} from 'temporal-media/internal/stores/journal/records';
import { type RecordStore } from 'temporal-media/stores';

/** Options for pruning a journal's keys. */
export interface PruneOptions {
  readonly records: RecordStore;
  /** Keys with a newer record are kept. */
  readonly before: Date;
  /** Whether to count without removing. */
  readonly dryRun: boolean;
  /** Whether a workflow that the entry names is running or can still be reset. Its key is then in use. */
  readonly inUse: (entry: SenderEntry) => Promise<boolean>;
  /** Milliseconds since the Unix epoch. @default the clock */
  readonly now?: () => number;
}

export interface Pruned {
  readonly keys: number;
  readonly removed: number;
  /** Keys with an unconfirmed call that still needs a decision. They are never removed. */
  readonly keptOpen: number;
  /** Keys whose workflow is running or still on the server. */
  readonly keptRunning: number;
  readonly keptYoung: number;
  /** Keys with a bill beyond the estimate, which a campaign's budget counts for as long as the key exists. */
  readonly keptBilled: number;
}

/** Removes the records of creation keys that can no longer be used. Keeps keys that wait for a decision. */
export async function pruneJournal(options: PruneOptions): Promise<Pruned> {
  const counts = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0, keptBilled: 0 };
  for await (const key of keysIn(options.records)) {
    counts.keys += 1;
    counts[await end(key, options)] += 1;
  }
  return counts;
}

async function end({ hash, names }: KeyRecords, options: PruneOptions): Promise<ReasonToKeep | 'removed'> {
  const prefix = prefixOfHash(hash);
  const earlier = await earlierRemoval(prefix, options);
  if (earlier === 'under_way') return 'keptYoung';
  if (earlier === 'used_again') {
    // Without its notes, the next prune treats it like any other key.
    if (!options.dryRun)
      for (const note of await notesOf(prefix, options)) await options.records.remove(note);
    return 'keptYoung';
  }
  const goesOn = earlier !== 'none';
  const log = await readEntries(options.records, names);
  const kept = await reasonToKeep(log, options, goesOn);
  if (kept !== undefined || options.dryRun) return kept ?? 'removed';
  return removed(prefix, options, goesOn ? earlier : log.map(({ digest }) => digest), goesOn);
}

type ReasonToKeep = 'keptOpen' | 'keptRunning' | 'keptYoung' | 'keptBilled';

/**
 * The longest time for a removal. A removal that began less than this long ago may still be running in some process.
 */
const UNDER_WAY_MS = 3_600_000;

async function reasonToKeep(
  log: readonly StoredEntry[],
  options: PruneOptions,
  goesOn: boolean,
): Promise<ReasonToKeep | undefined> {
  // A half-removed key looks as if it were waiting for a decision, but an earlier prune already judged its entries.
  const kept = goesOn ? (isYoung(log, options) ? 'keptYoung' : undefined) : unsettled(log, options);
  if (kept !== undefined) return kept;
  for (const { entry } of log) if (isOfSender(entry) && (await options.inUse(entry))) return 'keptRunning';
  return undefined;
}

/**
 * Interprets the notes that earlier prunes left. A prune may be under way. If it was killed, this returns the digests
 * of the entries that it judged, so that their removal can continue. If the key was used again, it is judged like any
 * other.
 */
async function earlierRemoval(
  prefix: string,
  options: PruneOptions,
): Promise<'none' | 'under_way' | 'used_again' | readonly string[]> {
  const { records, now = Date.now } = options;
  const text = await records.read(removalName(prefix));
  if (text === null) return 'none';
  // List the names again, because this page may have been listed minutes ago.
  const names = await namesOf(prefix, records);
  for (const name of names.filter((one) => one.startsWith(removalName(prefix)))) {
    const note = await records.read(name);
    if (note !== null && !(Date.parse(parseRemoval(note).at) < now() - UNDER_WAY_MS)) return 'under_way';
  }
  const { entries } = parseRemoval(text);
  const left = await readEntries(records, names);
  return left.every(({ digest }) => entries.includes(digest)) ? entries : 'used_again';
}

/** A key's removal notes. The first note, which keeps writers from appending to the log, is last in the list. */
async function notesOf(prefix: string, { records }: PruneOptions): Promise<readonly string[]> {
  const names = await namesOf(prefix, records);
  return names.filter((name) => name.startsWith(removalName(prefix))).reverse();
}

function unsettled(log: readonly StoredEntry[], options: PruneOptions): ReasonToKeep | undefined {
  // A key without entries is about to get its first one.
  if (log.length === 0 || isYoung(log, options)) return 'keptYoung';
  // If an entry is missing, its content is unknown.
  if (log.some(({ n }, index) => n !== index)) return 'keptOpen';
  const { open, unknown, sends } = stateOf(log.map(({ entry }) => entry));
  if (open !== null || unknown !== null) return 'keptOpen';
  return sends.some(isDearForCampaign) ? 'keptBilled' : undefined;
}

/** Whether a campaign's book counts more for this send than its charge, and would count less without it. */
function isDearForCampaign(send: Send): boolean {
  const { sent } = send;
  return sent.kind === 'intent' && sent.payer !== undefined && billedBeyondCharge(send, false) > 0;
}

/** Whether the log has a recent entry. An unreadable time counts as now. */
function isYoung(log: readonly StoredEntry[], { before }: PruneOptions): boolean {
  return log.some(({ entry }) => !(Date.parse(entry.at) < before.getTime()));
}

/**
 * Removes a key as a whole, because the remaining part could mean "nothing was sent here". First writes a note, after
 * which no writer appends to the log. Entries written before the note are still seen. The prune that writes the note
 * has an hour to remove the key. If it is killed, the note stays and a later prune continues.
 * @param judged digests of the entries that may be removed
 */
async function removed(
  prefix: string,
  options: PruneOptions,
  judged: readonly string[],
  goesOn: boolean,
): Promise<'removed' | 'keptYoung'> {
  const { records, now = Date.now } = options;
  const note = removalName(prefix);
  const startedAt = now();
  const text = JSON.stringify({ v: 1, at: new Date(startedAt).toISOString(), entries: judged });
  // Only one of several prunes writes the note. If that prune is killed, one prune per hour can continue its work. The
  // first note stays until the end.
  const hour = `${note}.${Math.floor(startedAt / UNDER_WAY_MS)}`;
  if ((await records.create(goesOn ? hour : note, text)) === 'lost') return 'keptYoung';
  const names = await namesOf(prefix, records);
  const log = await readEntries(records, names);
  const isJudged = log.every(({ digest }) => judged.includes(digest));
  // New entries mean that the key is in use. A log that was complete must not be removed in part.
  if (!isJudged || (!goesOn && log.length < judged.length) || isYoung(log, options)) {
    for (const one of await notesOf(prefix, options)) await records.remove(one);
    return 'keptYoung';
  }
  // Remove backwards, so that a partly removed log never looks like a new one. Remove the notes last.
  const entries = log.map(({ name }) => name).reverse();
  const others = names.filter((name) => name !== note && !entries.includes(name));
  for (const part of [...pointersTo(log), ...entries, ...others, note]) {
    // After that time, another prune may have continued and the key may be in use again, so its records are not ours to
    // remove.
    if (now() > startedAt + UNDER_WAY_MS / 2) throw new JournalRecordError(SLEPT);
    await records.remove(part);
  }
  return 'removed';
}

const SLEPT =
  'Removing a creation key took longer than half an hour and was stopped: this machine was suspended, or the store is very slow. Run `temporal-media journal prune` again in an hour to continue the removal.';

async function namesOf(prefix: string, records: RecordStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of namePages(records, prefix)) names.push(...page);
  return names;
}

/** The names of records elsewhere that refer to the key. */
function pointersTo(log: readonly StoredEntry[]): string[] {
  return log.flatMap(({ n, entry }) => {
    if (entry.kind === 'intent') {
      const { namespace, creationKey, bodyHash } = entry;
      return [openName({ namespace, creationKey, n }, bodyHash)];
    }
    const answer = entry.kind === 'answer' || entry.kind === 'decision' ? entry.answer : null;
    return answer?.outcome === 'created' ? [taskName(answer.video.taskId, answer.video.account)] : [];
  });
}

interface PruneSpendOptions {
  readonly records: RecordStore;
  /** Windows with newer records are kept. */
  readonly before: Date;
  /** Whether to count without removing. */
  readonly dryRun: boolean;
  /** Milliseconds since the Unix epoch. @default the clock */
  readonly now?: () => number;
}

/** Hosts whose clocks are behind may still write into a window that has ended here. */
const BEHIND_MS = 86_400_000;

/**
 * Removes accounts' spending records for limit windows that have ended and receive no more calls. All records of a
 * window have times in the same month, which is the longest window. @returns the number of records
 */
export async function pruneSpend({
  records,
  before,
  dryRun,
  now = Date.now,
}: PruneSpendOptions): Promise<number> {
  const isOver = (at: string): boolean => {
    const time = Date.parse(at);
    // An unreadable time counts as now.
    return time < before.getTime() && spendWindow('month', time).endsAt + BEHIND_MS < now();
  };
  let removed = 0;
  let log: { readonly prefix: string; readonly ended: boolean } | undefined;
  for await (const page of namePages(records, CAMPAIGNS)) {
    for (const name of page) {
      const prefix = name.slice(0, name.lastIndexOf('/') + 1);
      if (log?.prefix !== prefix) log = { prefix, ended: await isEndedSpend(records, name, isOver) };
      if (!log.ended) continue;
      if (!dryRun) await records.remove(name);
      removed += 1;
    }
  }
  return removed;
}

/** Whether the log is a spending log that has ended. Log names are digests, so this must read a record. */
async function isEndedSpend(
  records: RecordStore,
  name: string,
  isOver: (at: string) => boolean,
): Promise<boolean> {
  const text = await records.read(name);
  if (text === null) return false;
  const record = parseCampaignRecord(text);
  return record.kind === 'spend' && isOver(record.at);
}
