import { createHash } from 'node:crypto';
import { type CampaignLog } from '../domain/campaign/budget-book';
import { type EntryPlace } from '../domain/journal';
import { type JournalKey } from '../domain/log-entries';

/** Where each record of a journal is, in every store (architecture: Stores). Names are API: journals outlive versions. */

/** Id and sealing key of the journal. */
export const IDENTITY = 'journal.json';

/** All records of creation keys. */
export const KEYS = 'keys/';

/** The records of one creation key, `keys/<h[0:2]>/<h>/`, with h = SHA-256 of namespace and key. */
export function keyPrefix({ namespace, creationKey }: JournalKey): string {
  const hash = sha256(`${namespace}\n${creationKey}`);
  return prefixOfHash(hash);
}

export function prefixOfHash(hash: string): string {
  return `${KEYS}${hash.slice(0, 2)}/${hash}/`;
}

/** The key's digest in the name of one of its records; undefined for a name of another form. */
export function hashIn(name: string): string | undefined {
  return /^keys\/[0-9a-f]{2}\/([0-9a-f]{64})\//.exec(name)?.[1];
}

/** Entry `n` of a log, from 0; by the prefix of its key. */
export function entryName(prefix: string, n: number): string {
  return `${prefix}${n}.entry`;
}

/** The number of an entry within its log; undefined for a name of another form. */
export function numberIn(name: string): number | undefined {
  const match = /\/(0|[1-9]\d*)\.entry$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Says that a key is being removed. */
export function removalName(prefix: string): string {
  return `${prefix}removal`;
}

/** The entries of a task id, one for each account. */
export function taskPrefix(taskId: string): string {
  const hash = sha256(taskId);
  return `tasks/${hash.slice(0, 2)}/${hash}/`;
}

export function taskName(taskId: string, account: string): string {
  return `${taskPrefix(taskId)}${sha256(account).slice(0, 16)}.json`;
}

/** The hints to intents for this body that may still be open. */
export function openPrefix(bodyHash: string): string {
  const hash = sha256(bodyHash);
  return `open/${hash.slice(0, 2)}/${hash}/`;
}

/** One for each intent: what is known of an earlier one takes nothing from a later one. */
export function openName({ namespace, creationKey, n }: EntryPlace, bodyHash: string): string {
  return `${openPrefix(bodyHash)}${sha256(`${namespace}\n${creationKey}`)}.${n}.json`;
}

/** A mark that a ledger was sent. */
export function markName(mark: string): string {
  return `marks/${sha256(mark)}.mark`;
}

/** Logs of campaigns, and of what accounts have spent. */
export const CAMPAIGNS = 'campaigns/';

/** A record of a campaign's log, beside the creation keys. */
export function campaignName({ namespace, name }: CampaignLog, n: number): string {
  const hash = sha256(`${namespace}\n${name}`);
  return `${CAMPAIGNS}${hash.slice(0, 2)}/${hash}/${n}.record`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
