import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type CampaignLog } from '../domain/campaign/book';
import { type JournalKey, type JournalPlace } from '../domain/create-journal';

/** Where the records of a creation key lie: `<h[0:2]>/<h>` (architecture: Stores). */
export function keyFolder(root: string, { namespace, creationKey }: JournalKey): string {
  const hash = sha256(`${namespace}\n${creationKey}`);
  return join(root, hash.slice(0, 2), hash);
}

/** Where the index entries of a task id lie, one per account. */
export function taskFolder(root: string, taskId: string): string {
  const hash = sha256(taskId);
  return join(root, 'tasks', hash.slice(0, 2), hash);
}

export function taskFile(root: string, taskId: string, account: string): string {
  return join(taskFolder(root, taskId), `${sha256(account).slice(0, 16)}.json`);
}

/** Where the epochs are named that have an intent for this body and may still be open. */
export function openFolder(root: string, bodyHash: string): string {
  const hash = sha256(bodyHash);
  return join(root, 'open', hash.slice(0, 2), hash);
}

export function openFile(root: string, place: JournalPlace, bodyHash: string): string {
  const key = sha256(`${place.namespace}\n${place.creationKey}`);
  return join(openFolder(root, bodyHash), `${key}.${place.epoch}.json`);
}

/** Where the marks lie that ledgers were told. */
export function markFile(root: string, mark: string): string {
  return join(root, 'marks', `${sha256(mark)}.mark`);
}

/** A record of a campaign's log, beside the creation keys. */
export function recordFile(root: string, { namespace, name }: CampaignLog, n: number): string {
  const hash = sha256(`${namespace}\n${name}`);
  return join(root, 'campaigns', hash.slice(0, 2), hash, `${n}.record`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
