import {
  type CreateJournal,
  type JournalKey,
  type RecordedAnswer,
  type SlotIntent,
} from '../domain/create-journal';
import { type CreateVideoAnswer } from '../domain/paid-call';

/** Makes a created task findable by its id alone. Done again whenever a recorded creation is read: a kill may have come between. */
export async function indexCreated(
  journal: CreateJournal | 'none',
  key: JournalKey,
  answer: CreateVideoAnswer | RecordedAnswer,
  slot: SlotIntent | null,
): Promise<void> {
  if (journal === 'none' || answer.outcome !== 'created') return;
  const { taskId, account } = answer.video;
  // Read from a record: mostly it was done then, and to try it would be a draft and two waits for the disk.
  if (!answer.sent) {
    const known = await journal.findTask(taskId).catch(() => []);
    if (known.some(({ video }) => video.account === account)) return;
  }
  await journal
    .indexTask({
      v: 1,
      namespace: key.namespace,
      creationKey: key.creationKey,
      epoch: answer.epoch,
      workflowId: slot?.workflowId ?? null,
      runId: slot?.runId ?? null,
      video: answer.video,
    })
    // The index only shortens a search; the outcome itself is recorded.
    .catch(() => undefined);
}
