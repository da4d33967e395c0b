import { type ClaimIntent, isUndecided } from '../domain/journal';
import {
  type KeyRecords,
  keysIn,
  type NumberedSendAttempt,
  pagesOf,
  readSendAttempts,
} from './create-journal';
import { openName, prefixOfHash, removalName, taskName } from './record-names';
import { type RecordStore } from './record-store';
import { parseRemoval } from './records';

export interface PruneOptions {
  readonly records: RecordStore;
  /** Keys whose newest record is younger are kept. */
  readonly before: Date;
  /** Counts without removing. */
  readonly dryRun: boolean;
  /** Whether the workflow that sent it runs, or can still be reset: its key is in use. */
  readonly inUse: (claim: ClaimIntent) => Promise<boolean>;
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

async function end(key: KeyRecords, options: PruneOptions): Promise<ReasonToKeep | 'removed'> {
  const earlier = await earlierRemoval(key, options);
  if (earlier === 'under_way') return 'keptYoung';
  if (earlier === 'used_again') {
    // Without its note the next prune judges it, as any other key.
    if (!options.dryRun) await options.records.remove(removalName(prefixOfHash(key.hash)));
    return 'keptYoung';
  }
  const goesOn = earlier === 'goes_on';
  return (await reasonToKeep(key, options, goesOn)) ?? (await removed(key, options, goesOn));
}

type ReasonToKeep = 'keptOpen' | 'keptRunning' | 'keptYoung';

/** How long a removal may take: one that began later than this ago is under way, in this process or in another one. */
const UNDER_WAY_MS = 3_600_000;

async function reasonToKeep(
  key: KeyRecords,
  options: PruneOptions,
  goesOn: boolean,
): Promise<ReasonToKeep | undefined> {
  const sendAttempts = await readSendAttempts(options.records, key.names);
  // A key that is half removed looks as if it waited for a decision; all that is left of it was judged before.
  const kept = goesOn
    ? isYoung(sendAttempts, options)
      ? 'keptYoung'
      : undefined
    : unsettled(sendAttempts, options);
  if (kept !== undefined) return kept;
  for (const { claim } of sendAttempts)
    if (claim?.kind === 'intent' && (await options.inUse(claim))) return 'keptRunning';
  return undefined;
}

/**
 * What the note of an earlier prune means: it is under way, or was killed and goes on, or is of a key that was used
 * again since, so that the key is judged as any other.
 */
async function earlierRemoval(
  { hash, names }: KeyRecords,
  { records, now = Date.now }: PruneOptions,
): Promise<'none' | 'under_way' | 'goes_on' | 'used_again'> {
  const text = await records.read(removalName(prefixOfHash(hash)));
  if (text === null) return 'none';
  const { at, nonces } = parseRemoval(text);
  if (!(Date.parse(at) < now() - UNDER_WAY_MS)) return 'under_way';
  const left = await readSendAttempts(records, names);
  return left.every(({ claim }) => claim !== null && nonces.includes(claim.nonce)) ? 'goes_on' : 'used_again';
}

function unsettled(
  sendAttempts: readonly NumberedSendAttempt[],
  options: PruneOptions,
): 'keptOpen' | 'keptYoung' | undefined {
  // One without a claim is about to get one.
  if (sendAttempts.length === 0 || isYoung(sendAttempts, options)) return 'keptYoung';
  return sendAttempts.some(isUndecided) ? 'keptOpen' : undefined;
}

function isYoung(sendAttempts: readonly NumberedSendAttempt[], { before }: PruneOptions): boolean {
  const times = sendAttempts.flatMap(({ claim, outcome, resolution }) => [
    claim?.at,
    outcome?.at,
    resolution?.at,
  ]);
  // An unreadable time counts as now.
  return times.some((at) => at !== undefined && !(Date.parse(at) < before.getTime()));
}

/**
 * Removes a key as a whole, because a part of it would be read as "nothing was sent here". First a note says so; from
 * then on nobody takes a later send attempt of the key, and what was written before the note is seen below it. Whoever
 * writes the note removes the key, and nobody else for an hour. A prune that is killed leaves the note, and a later one
 * goes on.
 */
async function removed(
  { hash }: KeyRecords,
  options: PruneOptions,
  goesOn: boolean,
): Promise<'removed' | 'keptOpen' | 'keptYoung'> {
  const { records, dryRun, now = Date.now } = options;
  if (dryRun) return 'removed';
  const prefix = prefixOfHash(hash);
  const note = removalName(prefix);
  const judged = await readSendAttempts(records, await namesOf(prefix, records));
  const nonces = judged.flatMap(({ claim }) => (claim === null ? [] : [claim.nonce]));
  // Of several prunes one writes the note, and one in an hour goes on with what was killed; the note stays until the end.
  const mine = goesOn ? `${note}.${Math.floor(now() / UNDER_WAY_MS)}` : note;
  const written = JSON.stringify({ v: 1, at: new Date(now()).toISOString(), nonces });
  if ((await records.create(mine, written)) === 'lost') return 'keptYoung';
  const names = await namesOf(prefix, records);
  const sendAttempts = await readSendAttempts(records, names);
  const isSame = sendAttempts.every(({ claim }) => claim !== null && nonces.includes(claim.nonce));
  const late =
    !isSame || isYoung(sendAttempts, options)
      ? 'keptYoung'
      : goesOn
        ? undefined
        : unsettled(sendAttempts, options);
  if (late !== undefined) {
    if (mine !== note) await records.remove(mine);
    await records.remove(note);
    return late;
  }
  for (const pointer of pointersTo(sendAttempts)) await records.remove(pointer);
  // Backwards: the first claim goes last, so that no part of the key looks like a new one, and then the note.
  const parts = names.filter((name) => name !== note).reverse();
  for (const name of parts) await records.remove(name);
  await records.remove(note);
  return 'removed';
}

async function namesOf(prefix: string, records: RecordStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of pagesOf(records, prefix)) names.push(...page);
  return names;
}

/** Records elsewhere that refer to the key. */
function pointersTo(sendAttempts: readonly NumberedSendAttempt[]): string[] {
  return sendAttempts.flatMap(({ sendAttempt, claim, outcome, resolution }) => {
    const tasks = [outcome?.answer, resolution?.answer].flatMap((answer) =>
      answer?.outcome === 'created' ? [taskName(answer.video.taskId, answer.video.account)] : [],
    );
    if (claim?.kind !== 'intent') return tasks;
    const { namespace, creationKey, bodyHash } = claim;
    return [...tasks, openName({ namespace, creationKey, sendAttempt }, bodyHash)];
  });
}
