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
