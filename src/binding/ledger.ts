import { Client, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { isOpen } from '../domain/execution-status';
import {
  type BindRequest,
  bindRequestCheck,
  type Ledger,
  type MediaJournalInput,
  nextLedger,
} from '../domain/journal-binding';
import { ledgerTaskQueue, mediaJournalWorkflowId, SIGNAL, WORKFLOW } from '../domain/names';
import { STARTED_BY } from '../domain/version';

/**
 * The ledger of a task queue: an execution that no worker ever runs. Its history is the ledger: the server puts the
 * requests of all workers into one order, and every reader applies the same rule. So no worker's code can stop it,
 * and every client can read it.
 *
 * @module
 */

/** State of the ledger on the server. `closed` was ended from outside; its content is still valid. */
export type FoundLedger =
  | { readonly is: 'missing' }
  | {
      readonly is: 'open' | 'closed';
      readonly runId: string;
      readonly ledger: Ledger | null;
      /** Number of events of its run. */
      readonly length: number;
    };

/** A client on the user's connection that changes nothing in a ledger: no codec, no interceptors. */
export function plainClient({ connection, options }: Pick<Client, 'connection' | 'options'>): Client {
  return new Client({ connection, namespace: options.namespace });
}

export async function readLedger(client: Client, taskQueue: string): Promise<FoundLedger> {
  const workflowId = mediaJournalWorkflowId(taskQueue);
  try {
    const { status, runId } = await client.workflow.getHandle(workflowId).describe();
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // A paused execution accepts signals.
    const is = isOpen(status.name) ? 'open' : 'closed';
    return { is, runId, ledger: ledgerOf(events ?? []), length: events?.length ?? 0 };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { is: 'missing' };
    throw error;
  }
}

/**
 * Length at which a run is ended and continued: far below what a server allows in one run (10,000 signals), and still
 * quick to read.
 */
const FULL_AT = 500;

/** Sends a request to the ledger, and starts one where there is none. The ledger then shows whether it is granted. */
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
    // Requests that arrive meanwhile are in its history and are read with it; a later signal fails, and its caller
    // reads again.
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
    // A workflow task that waits for a worker would be a backlog of its queue. A later request makes one all the same.
    startDelay: '3650 days',
    signalArgs: [request],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo: {
      ...STARTED_BY,
      about: 'No worker runs this, by design: its history is the record. Never terminate it.',
    },
    staticSummary: 'Ledger: never terminate',
    staticDetails:
      `The ledger of the task queue \`${taskQueue}\`: it says which journal proves there what was sent and paid for. ` +
      'No worker runs it, by design: its history is read instead. ' +
      '**Never terminate or delete it**: workers would refuse to start until a person has looked at what is under way.',
  });
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>[number];

/** Computes the ledger from the events of one run. */
export function ledgerOf(events: readonly HistoryEvent[]): Ledger | null {
  let ledger: Ledger | null = null;
  for (const event of events) {
    const started = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    // State that cannot be read is not the same as none: then the ledger cannot be read.
    if (started) ledger = (decoded(started) as MediaJournalInput | null)?.carried ?? null;
    const signalled = event.workflowExecutionSignaledEventAttributes;
    const request = signalled?.signalName === SIGNAL.bind ? requestOf(signalled.input?.payloads?.[0]) : null;
    if (request !== null) ledger = nextLedger(ledger, request, timeOf(event));
  }
  return ledger;
}

function timeOf({ eventTime }: HistoryEvent): string {
  return new Date(Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6).toISOString();
}

/** Null for what no worker of this package sent. */
function requestOf(payload: Payload | undefined): BindRequest | null {
  try {
    const request = payload === undefined ? null : decoded(payload);
    return bindRequestCheck(request, 'request') === undefined ? (request as BindRequest) : null;
  } catch (_error) {
    return null;
  }
}

function decoded(payload: Payload): unknown {
  return defaultPayloadConverter.fromPayload(payload);
}
