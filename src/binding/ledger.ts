import { Client, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { isOpen } from '../domain/execution-status';
import { type BindRequest, type Ledger, type MediaJournalInput, nextLedger } from '../domain/journal-binding';
import { ledgerTaskQueue, mediaJournalWorkflowId, SIGNAL, WORKFLOW } from '../domain/names';

/**
 * The ledger of a task queue: an execution that no worker ever runs. Its history is the ledger: the server puts the
 * requests of all workers into one order, and everybody reads them by the same rule. So no code of anybody can stop it,
 * and whoever has a client can ask it.
 *
 * @module
 */

/** The server's word for what is there. `closed` was ended from outside; what it held still stands. */
export type FoundLedger =
  | { readonly is: 'missing' }
  | {
      readonly is: 'open' | 'closed';
      readonly runId: string;
      readonly ledger: Ledger | null;
      /** Events of its run. */
      readonly length: number;
    };

/** Of a client as the user made it, the part that puts nothing of theirs into a ledger: no codec, no interceptors. */
export function plainClient({ connection, options }: Pick<Client, 'connection' | 'options'>): Client {
  return new Client({ connection, namespace: options.namespace });
}

export async function readLedger(client: Client, taskQueue: string): Promise<FoundLedger> {
  const workflowId = mediaJournalWorkflowId(taskQueue);
  try {
    const { status, runId } = await client.workflow.getHandle(workflowId).describe();
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // One that is paused takes signals.
    const is = isOpen(status.name) ? 'open' : 'closed';
    return { is, runId, ledger: ledgerOf(events ?? []), length: events?.length ?? 0 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { is: 'missing' };
    throw error;
  }
}

/** Far below what a server allows in one run (10,000 signals), and still read at once. */
const FULL_AT = 500;

/** Adds a request to what is there, and begins a ledger where there is none. Whether it is granted, the ledger then says. */
export async function askLedger(
  client: Client,
  taskQueue: string,
  request: BindRequest,
  found: FoundLedger,
): Promise<void> {
  const workflowId = mediaJournalWorkflowId(taskQueue);
  if (found.is === 'open') {
    const run = client.workflow.getHandle(workflowId, found.runId);
    if (found.length < FULL_AT) {
      await run.signal(SIGNAL.bind, request);
      return;
    }
    // What others say meanwhile is in its history, and is read with it; who comes later is told to look again.
    await run.terminate('Full: the next run carries on what it held.');
    await askLedger(client, taskQueue, request, await readLedger(client, taskQueue));
    return;
  }
  const input: MediaJournalInput = { carried: found.is === 'closed' ? found.ledger : null };
  await client.workflow.signalWithStart(WORKFLOW.mediaJournal, {
    workflowId,
    taskQueue: ledgerTaskQueue(taskQueue),
    args: [input],
    signal: SIGNAL.bind,
    signalArgs: [request],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: 'Ledger: never terminate',
    staticDetails:
      `The ledger of the task queue \`${taskQueue}\`: it says which journal proves there what was sent and paid for. ` +
      'No worker runs it, by design: its one workflow task waits for ever, and its history is read instead. ' +
      '**Never terminate or delete it**: workers would refuse to start until a person has looked at what is under way.',
  });
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>[number];

/** What the events of one run come to. */
export function ledgerOf(events: readonly HistoryEvent[]): Ledger | null {
  let ledger: Ledger | null = null;
  for (const event of events) {
    const started = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    if (started) ledger = decoded<MediaJournalInput>(started).carried;
    const signalled = event.workflowExecutionSignaledEventAttributes;
    const request = signalled?.signalName === SIGNAL.bind ? signalled.input?.payloads?.[0] : undefined;
    if (request) ledger = nextLedger(ledger, decoded<BindRequest>(request), timeOf(event));
  }
  return ledger;
}

function timeOf({ eventTime }: HistoryEvent): string {
  return new Date(Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6).toISOString();
}

function decoded<T>(payload: Payload): T {
  return defaultPayloadConverter.fromPayload<T>(payload);
}
