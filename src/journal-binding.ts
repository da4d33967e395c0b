import { type Client, ServiceError, WithStartWorkflowOperation } from '@temporalio/client';
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
  readonly createTaskQueue: string;
  readonly journal: CreateJournal;
  /** Where the workflow code is: a bundle or a path, as for the worker itself. */
  readonly workflows: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  readonly namespace: string;
  readonly rebind?: boolean;
}

/**
 * Binds the create task queue to this journal before any activity poller starts (design 4.3). A small
 * workflow-only worker runs meanwhile, because an update needs a worker to answer it.
 * @throws JournalBindingError when the queue belongs to another journal or host
 */
export async function bindJournal(options: BindJournalOptions): Promise<void> {
  const { client, createTaskQueue, journal } = options;
  const request: BindRequest = {
    ...(await journal.identity()),
    ...(options.rebind === true ? { rebind: true } : {}),
  };
  const taskQueue = bindingTaskQueue(createTaskQueue);
  const worker = await Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue,
    ...options.workflows,
    maxConcurrentWorkflowTaskExecutions: 2,
    maxCachedWorkflows: 2,
  });
  const answer = await worker.runUntil(() => bind(client, createTaskQueue, request));
  if (!answer.bound) throw new JournalBindingError(refusal(createTaskQueue, answer.difference));
}

/** A server under load aborts an update now and then; binding the same journal again changes nothing. */
const TRIES = 3;

async function bind(client: Client, createTaskQueue: string, request: BindRequest): Promise<BindAnswer> {
  for (let attempt = 1; ; attempt++) {
    // One operation carries one start.
    const startWorkflowOperation = new WithStartWorkflowOperation<
      (input: MediaJournalInput) => Promise<void>
    >(WORKFLOW.mediaJournal, {
      workflowId: mediaJournalWorkflowId(createTaskQueue),
      taskQueue: bindingTaskQueue(createTaskQueue),
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
  return (
    `${what} Two journals cannot keep a video from being bought twice, so this worker does not start. ` +
    'Remedies: point this worker at the same journal (MEDIA_JOURNAL, or a shared store); ' +
    'give it a task queue of its own (MEDIA_TASK_QUEUE); or, when no worker uses the other journal any more, start it once with rebind.'
  );
}
