import { type AnswerEntry, type IntentEntry } from '../../../src/domain/log-entries';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { answers } from '../../domain/create-answers';
import { makeVideoTask } from '../../domain/make-video-task';
import { answerEntry, intentEntry } from '../../support/log-entries';

/** A call as a test's journal has it: what differs from a video that was bought for 0.10 USD. */
export interface MadeCall extends Partial<IntentEntry> {
  readonly creationKey: string;
  /** Null for a send whose reply was lost. */
  readonly taskId?: string | null;
  readonly answer?: AnswerEntry['answer'];
}

/** Writes the logs of calls, as workers do. */
export async function writeCalls(root: string, calls: readonly MadeCall[]): Promise<void> {
  const journal = createFileJournal({ root });
  await journal.identity();
  for (const { taskId = `task-${calls.length}`, answer, ...own } of calls) {
    const { creationKey, namespace = 'default', account = 'default@00000000' } = own;
    const nonce = `send of ${creationKey}`;
    const estimate = { microUnits: 100_000, currency: 'USD' };
    const idempotencyKey = `key of ${creationKey}`.replaceAll(' ', '-');
    const key = { namespace, creationKey };
    const intent = intentEntry({ estimate, idempotencyKey, ...own, ...key, account, nonce });
    await journal.append(key, 0, intent);
    const video = makeVideoTask({ taskId: taskId ?? '', account, model: intent.model });
    const said =
      answer ?? (taskId === null ? answers.unconfirmed(0) : { ...answers.created(0), account, video });
    await journal.append(key, 1, answerEntry(said, { nonce }));
    const place = { creationKey, namespace, sendAttempt: 0, workflowId: null, runId: null };
    if (said.outcome === 'created') await journal.indexTask({ v: 1, ...place, video });
  }
}
