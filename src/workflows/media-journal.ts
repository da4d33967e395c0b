import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  decideBinding,
  type BindAnswer,
  type BindRequest,
  type JournalBinding,
  type MediaJournalInput,
} from '../domain/journal-binding';
import { UPDATE } from '../domain/names';

export const bindUpdate = defineUpdate<BindAnswer, [BindRequest]>(UPDATE.bind);

/**
 * The ledger of one create task queue: it knows the one journal whose fences prove "not sent" there (design 4.3).
 * It runs for ever, continuing as new, and is touched only when a worker starts.
 */
export async function mediaJournal(input: MediaJournalInput = {}): Promise<void> {
  let binding: JournalBinding | null = input.carried?.binding ?? null;
  let longEnough = false;
  setHandler(
    bindUpdate,
    (request) => {
      const answer = decideBinding(binding, request);
      if (answer.bound) binding = { journalId: request.journalId, hostId: request.hostId };
      // Looked at here only: a request that the validator refuses leaves no event, and what it woke up must not act.
      longEnough = workflowInfo().continueAsNewSuggested;
      return answer;
    },
    {
      validator: (request: BindRequest) => {
        if (typeof request.journalId !== 'string' || request.journalId === '')
          throw new Error('journalId is required');
      },
    },
  );
  await condition(() => longEnough && allHandlersFinished());
  return continueAsNew<typeof mediaJournal>({ carried: { v: 1, binding } });
}
