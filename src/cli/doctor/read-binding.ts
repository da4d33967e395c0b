import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  type BindRequest,
  decideBinding,
  type JournalBinding,
  type MediaJournalInput,
} from '../../domain/journal-binding';
import { mediaJournalWorkflowId } from '../../domain/names';

/**
 * The journal to which a create task queue is bound, read from the history of `mediaJournal` by the rule that the
 * workflow itself follows: no worker is needed, nothing is written. Null when it is bound to none (design 4.3).
 */
export async function readBinding(client: Client, createTaskQueue: string): Promise<JournalBinding | null> {
  const handle = client.workflow.getHandle(mediaJournalWorkflowId(createTaskQueue));
  try {
    // One that was ended from outside holds nothing: the next worker starts another one.
    if ((await handle.describe()).status.name !== 'RUNNING') return null;
    return bindingOf((await handle.fetchHistory()).events ?? []);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>[number];

/** What the events of one run come to. */
export function bindingOf(events: readonly HistoryEvent[]): JournalBinding | null {
  let binding: JournalBinding | null = null;
  for (const event of events) {
    const input = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    if (input) binding = decoded<MediaJournalInput>(input).carried?.binding ?? null;
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.args;
    const request = accepted?.payloads?.[0];
    if (!request) continue;
    const { journalId, hostId, rebind = false } = decoded<BindRequest>(request);
    if (decideBinding(binding, { journalId, hostId, rebind }).bound) binding = { journalId, hostId };
  }
  return binding;
}

function decoded<T>(payload: Payload): T {
  return defaultPayloadConverter.fromPayload<T>(payload);
}
