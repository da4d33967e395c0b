import {
  type CreateJournal,
  type JournalKey,
  type SlotIntent,
  type TaskIndexEntry,
} from '../domain/create-journal';
import { type CreatedVideo } from '../domain/paid-call';

/** Whether a task of the same account belongs to another creation key; the same key in two namespaces is two keys. */
export function isForeign(owner: TaskIndexEntry, key: JournalKey, { account }: SlotIntent): boolean {
  const same = owner.creationKey === key.creationKey && owner.namespace === key.namespace;
  return !same && owner.video.account === account;
}

/**
 * Takes a task for a creation key before it is adopted: two keys that look for their task at the same time, or two people,
 * never get the same one. False when another key has it. Throws when the journal cannot tell.
 */
export async function claimTask(
  journal: CreateJournal,
  key: JournalKey,
  slot: SlotIntent,
  { epoch, video }: CreatedVideo,
): Promise<boolean> {
  const { workflowId, runId } = slot;
  await journal.indexTask({ v: 1, ...key, epoch, workflowId, runId, video });
  const owners = await journal.findTask(video.taskId);
  return !owners.some((owner) => isForeign(owner, key, slot));
}
