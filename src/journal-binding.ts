import {
  type Client,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { type BindAnswer, type BindRequest, type MediaJournalInput } from './domain/journal-binding';
import { type CreateJournal } from './domain/create-journal';
import { bindingTaskQueue, mediaJournalWorkflowId, UPDATE, WORKFLOW } from './domain/names';

/** A worker whose journal is not the one of its create task queue refuses to start: two journals could buy twice. */
export class JournalBindingError extends Error {
  override readonly name = 'JournalBindingError';
}

export interface BindJournalOptions {
  readonly client: Client;
  readonly connection: NativeConnection;
  /** Every queue on which creates are taken, bound in this order; all are answered on the binding queue of the first. */
  readonly createTaskQueues: readonly [string, ...string[]];
  readonly journal: CreateJournal;
  /** Where the workflow code is: a bundle or a path, as for the worker itself. */
  readonly workflows: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  readonly namespace: string;
  readonly rebind?: boolean;
}

/**
 * Binds the create task queues to this journal before any activity poller starts (design 4.3). A small
 * workflow-only worker runs meanwhile, because an update needs a worker to answer it.
 * @throws JournalBindingError when a queue belongs to another journal or host
 */
export async function bindJournal(options: BindJournalOptions): Promise<void> {
  const { client, createTaskQueues, journal } = options;
  const request: BindRequest = {
    ...(await journal.identity()),
    ...(options.rebind === true ? { rebind: true } : {}),
  };
  const own = bindingTaskQueue(createTaskQueues[0]);
  const ledgers = await Promise.all(
    createTaskQueues.map(async (queue) => ({ queue, answeredOn: (await livesOn(client, queue)) ?? own })),
  );
  const served = [...new Set(ledgers.map(({ answeredOn }) => answeredOn))];
  const workers = await Promise.all(served.map((taskQueue) => bindingWorker(options, taskQueue)));
  await runWhile(workers, async () => {
    // One after the other: a worker that is refused on its own queue must not have taken another one.
    for (const { queue, answeredOn } of ledgers) {
      const answer = await bind(client, queue, answeredOn, request);
      if (!answer.bound) throw new JournalBindingError(refusal(queue, answer.difference));
    }
  });
}

/** The task queue of a ledger that is there: a worker whose own queue is the create queue of another made it elsewhere. */
async function livesOn(client: Client, createTaskQueue: string): Promise<string | undefined> {
  try {
    const { status, taskQueue } = await client.workflow
      .getHandle(mediaJournalWorkflowId(createTaskQueue))
      .describe();
    return status.name === 'RUNNING' ? taskQueue : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function bindingWorker(
  { connection, namespace, workflows }: BindJournalOptions,
  taskQueue: string,
): Promise<Worker> {
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    ...workflows,
    maxConcurrentWorkflowTaskExecutions: 4,
    maxCachedWorkflows: 4,
  });
}

async function runWhile<T>([worker, ...rest]: readonly Worker[], work: () => Promise<T>): Promise<T> {
  return worker === undefined ? work() : worker.runUntil(() => runWhile(rest, work));
}

/** A server under load aborts an update now and then; binding the same journal again changes nothing. */
const TRIES = 3;

async function bind(
  client: Client,
  createTaskQueue: string,
  taskQueue: string,
  request: BindRequest,
): Promise<BindAnswer> {
  for (let attempt = 1; ; attempt++) {
    // One operation carries one start.
    const startWorkflowOperation = new WithStartWorkflowOperation<
      (input: MediaJournalInput) => Promise<void>
    >(WORKFLOW.mediaJournal, {
      workflowId: mediaJournalWorkflowId(createTaskQueue),
      taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{}],
    });
    try {
      return await client.workflow.executeUpdateWithStart<
        (input: MediaJournalInput) => Promise<void>,
        BindAnswer,
        [BindRequest]
      >(UPDATE.bind, { args: [request], startWorkflowOperation });
    } catch (error) {
      if (!(error instanceof ServiceError) || attempt >= TRIES) throw error;
    }
  }
}

function refusal(queue: string, difference: 'journal' | 'host'): string {
  const what =
    difference === 'journal'
      ? `The task queue "${queue}" creates with another journal than this worker's.`
      : `The journal of the task queue "${queue}" is a file journal of another host.`;
  // A container has a new host name at every start.
  const sameVolume =
    'where this is the same volume, seen from a new container, set MEDIA_HOST_ID to one name in all of them and start once with rebind; ';
  return (
    `${what} Two journals cannot keep a video from being bought twice, so this worker does not start. ` +
    `Remedies: ${difference === 'host' ? sameVolume : ''}point this worker at the same journal (MEDIA_JOURNAL, or a shared store); ` +
    'give it a task queue of its own (MEDIA_TASK_QUEUE); or, when no worker uses the other journal any more, start it once with rebind.'
  );
}
