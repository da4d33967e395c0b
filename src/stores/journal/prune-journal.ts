import { isOfSender, type SenderEntry } from '../../domain/log-entries';
import { spendWindow } from '../../domain/money';
import { stateOf } from '../../domain/paid-log';
import { type KeyRecords, keysIn, namePages, readEntries, type StoredEntry } from './create-journal';
import { type RecordStore } from './record-store';
import {
  CAMPAIGNS,
  JournalRecordError,
  openName,
  parseCampaignRecord,
  parseRemoval,
  prefixOfHash,
  removalName,
  taskName,
} from './records';

/** How the keys of a journal are pruned. */
export interface PruneOptions {
  readonly records: RecordStore;
  /** Keys whose newest record is younger are kept. */
  readonly before: Date;
  /** Counts without removing. */
  readonly dryRun: boolean;
  /** Whether a workflow that the entry names runs, or can still be reset: its key is in use. */
  readonly inUse: (entry: SenderEntry) => Promise<boolean>;
  /** Milliseconds since the Unix epoch. @default the clock */
  readonly now?: () => number;
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

/** Removes the records of creation keys that can no longer be used. Keys that wait for a decision are kept. */
export async function pruneJournal(options: PruneOptions): Promise<Pruned> {
  const counts = { keys: 0, removed: 0, keptOpen: 0, keptRunning: 0, keptYoung: 0 };
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
    // Without its notes the next prune judges it, as any other key.
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

type ReasonToKeep = 'keptOpen' | 'keptRunning' | 'keptYoung';

/** How long a removal may take: one that began later than this ago is under way, in this process or in another one. */
const UNDER_WAY_MS = 3_600_000;

async function reasonToKeep(
  log: readonly StoredEntry[],
  options: PruneOptions,
  goesOn: boolean,
): Promise<ReasonToKeep | undefined> {
  // A key that is half removed looks as if it waited for a decision; all that is left of it was judged before.
  const kept = goesOn ? (isYoung(log, options) ? 'keptYoung' : undefined) : unsettled(log, options);
  if (kept !== undefined) return kept;
  for (const { entry } of log) if (isOfSender(entry) && (await options.inUse(entry))) return 'keptRunning';
  return undefined;
}

/**
 * What the notes of earlier prunes mean: one is under way, or was killed and goes on with the entries that it judged (their
 * digests), or is of a key that was used again since, so that the key is judged as any other.
 */
async function earlierRemoval(
  prefix: string,
  options: PruneOptions,
): Promise<'none' | 'under_way' | 'used_again' | readonly string[]> {
  const { records, now = Date.now } = options;
  const text = await records.read(removalName(prefix));
  if (text === null) return 'none';
  // As they are now: the names of this page may have been listed minutes ago.
  const names = await namesOf(prefix, records);
  for (const name of names.filter((one) => one.startsWith(removalName(prefix)))) {
    const note = await records.read(name);
    if (note !== null && !(Date.parse(parseRemoval(note).at) < now() - UNDER_WAY_MS)) return 'under_way';
  }
  const { entries } = parseRemoval(text);
  const left = await readEntries(records, names);
  return left.every(({ digest }) => entries.includes(digest)) ? entries : 'used_again';
}

/** The notes of removals of a key; the first one, which keeps others from its log, comes last. */
async function notesOf(prefix: string, { records }: PruneOptions): Promise<readonly string[]> {
  const names = await namesOf(prefix, records);
  return names.filter((name) => name.startsWith(removalName(prefix))).reverse();
}

function unsettled(log: readonly StoredEntry[], options: PruneOptions): 'keptOpen' | 'keptYoung' | undefined {
  // A key without an entry is about to get one.
  if (log.length === 0 || isYoung(log, options)) return 'keptYoung';
  // Where an entry is missing, nobody knows what it said.
  if (log.some(({ n }, index) => n !== index)) return 'keptOpen';
  const { open, unknown } = stateOf(log.map(({ entry }) => entry));
  return open !== null || unknown !== null ? 'keptOpen' : undefined;
}

/** An unreadable time counts as now. */
function isYoung(log: readonly StoredEntry[], { before }: PruneOptions): boolean {
  return log.some(({ entry }) => !(Date.parse(entry.at) < before.getTime()));
}

/**
 * Removes a key as a whole, because a part of it would be read as "nothing was sent here". First a note says so; from
 * then on nobody appends to its log, and what was written before the note is seen below it. Whoever writes the note
 * removes the key, and nobody else for an hour. A prune that is killed leaves the note, and a later one goes on.
 * @param judged digests of the entries that may go
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
  // Of several prunes one writes the note, and one in an hour goes on with what was killed; the first note stays until the end.
  const hour = `${note}.${Math.floor(startedAt / UNDER_WAY_MS)}`;
  if ((await records.create(goesOn ? hour : note, text)) === 'lost') return 'keptYoung';
  const names = await namesOf(prefix, records);
  const log = await readEntries(records, names);
  const isJudged = log.every(({ digest }) => judged.includes(digest));
  // What was written since then is of somebody who uses the key; and of a log that is whole, nothing may be left behind.
  if (!isJudged || (!goesOn && log.length < judged.length) || isYoung(log, options)) {
    for (const one of await notesOf(prefix, options)) await records.remove(one);
    return 'keptYoung';
  }
  // Backwards: the first entry goes last, so that no part of the log looks like a new one, and then the notes.
  const entries = log.map(({ name }) => name).reverse();
  const others = names.filter((name) => name !== note && !entries.includes(name));
  for (const part of [...pointersTo(log), ...entries, ...others, note]) {
    // Another prune may have gone on meanwhile, and the key may be used anew: what stands there now is not ours.
    if (now() > startedAt + UNDER_WAY_MS / 2) throw new JournalRecordError(SLEPT);
    await records.remove(part);
  }
  return 'removed';
}

const SLEPT =
  'The removal of a creation key took longer than half an hour and was stopped: this machine was suspended, or the store is very slow. Run `temporal-media journal prune` again in an hour; it continues the removal.';

async function namesOf(prefix: string, records: RecordStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of namePages(records, prefix)) names.push(...page);
  return names;
}

/** Records elsewhere that refer to the key. */
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
  /** Windows with younger records are kept. */
  readonly before: Date;
  /** Counts without removing. */
  readonly dryRun: boolean;
  /** Milliseconds since the Unix epoch. @default the clock */
  readonly now?: () => number;
}

/** Hosts whose clocks are behind may still write into a window that has ended here. */
const BEHIND_MS = 86_400_000;

/**
 * Removes what accounts have spent in windows of their limits that have ended: no call is counted in them any more. All
 * records of a window are in its month, the longest window there is. @returns how many records
 */
export async function pruneSpend({
  records,
  before,
  dryRun,
  now = Date.now,
}: PruneSpendOptions): Promise<number> {
  const isOver = (at: string): boolean => {
    const time = Date.parse(at);
    // A time that cannot be read counts as now.
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

/** Names of logs are digests: only a record says whose log it is. */
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
