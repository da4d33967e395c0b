import { randomUUID } from 'node:crypto';
import {
  type Client,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleClient,
  type ScheduleDescription,
  ScheduleNotFoundError,
} from '@temporalio/client';
import { defaultPayloadConverter, ValueError } from '@temporalio/common';
import {
  BINDING_CACHE_MS,
  type BindRequest,
  type CreateJournal,
  differenceOf,
  DIFFERS,
  type QueueBinding,
  type BindingDifference,
  nextQueueBinding,
} from '../../domain/journal';
import { baseTaskQueue, mediaJournalScheduleId, STARTED_BY } from '../../domain/names';
import { type ArtifactStore } from '../../stores/artifacts/artifact-store';
import { anyPaidCall } from './paid-history';

/**
 * A task queue's binding is stored as the only argument of a paused schedule without times. A write is dropped if
 * another worker has written since the schedule was read, so all of a queue's workers agree. The schedule needs no
 * worker, starts no executions, and can be read by every client (ADR 28).
 *
 * @module
 */

/** A queue's binding, as stored in its schedule. */
export interface FoundQueueBinding {
  readonly queueBinding: QueueBinding;
  /**
   * False if an operator has unpaused the schedule. The server eventually removes an unpaused schedule without times.
   */
  readonly isPaused: boolean;
  readonly raw: ScheduleDescription['raw'];
}

/**
 * Creates a client on the user's connection that stores bindings as plain JSON, without a codec, storage or interceptors.
 * A `Client` would get those of the connection's plugins.
 */
export function plainClient({ connection, options }: Pick<Client, 'connection' | 'options'>): ScheduleClient {
  return new ScheduleClient({ connection, namespace: options.namespace });
}

/** Returns null for an unbound queue. @throws ValueError if the schedule was overwritten with something else */
export async function readQueueBinding(
  client: ScheduleClient,
  taskQueue: string,
): Promise<FoundQueueBinding | null> {
  try {
    const { action, raw } = await client.getHandle(mediaJournalScheduleId(taskQueue)).describe();
    const [held] = (action.args ?? []) as readonly (QueueBinding | null | undefined)[];
    if (typeof held?.binding?.journalId !== 'string')
      throw new ValueError(
        'the schedule does not contain a queue binding because it was overwritten; delete the schedule and start a worker once with rebind',
      );
    const written = Math.max(millisecondsOf(raw.info?.createTime), millisecondsOf(raw.info?.updateTime));
    if (written <= 0) throw new ValueError('The server did not report when the schedule was written.');
    const boundSince = held.boundSince || new Date(written + BINDING_CACHE_MS).toISOString();
    return { queueBinding: { ...held, boundSince }, isPaused: raw.schedule?.state?.paused === true, raw };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/**
 * Writes the binding, unless it has changed since it was read. Read the binding again to find out whether it was
 * written.
 * @param queueBinding an empty `boundSince` means {@link BINDING_CACHE_MS} after this write, in server time
 * @param found the binding read earlier; null for an unbound queue
 */
export async function writeQueueBinding(
  client: ScheduleClient,
  taskQueue: string,
  queueBinding: QueueBinding,
  found: FoundQueueBinding | null,
): Promise<void> {
  const scheduleId = mediaJournalScheduleId(taskQueue);
  if (found === null) return create(client, taskQueue, scheduleId, queueBinding);
  const { schedule, conflictToken } = found.raw;
  if (!conflictToken?.length)
    throw new ValueError('The server did not return a conflict token for the schedule.');
  const input = { payloads: [defaultPayloadConverter.toPayload(queueBinding)] };
  const action = { startWorkflow: { ...schedule?.action?.startWorkflow, input } };
  const state = { ...schedule?.state, paused: true };
  try {
    await client.workflowService.updateSchedule({
      namespace: client.options.namespace,
      scheduleId,
      schedule: { ...schedule, action, state },
      conflictToken,
      requestId: randomUUID(),
    });
  } catch (error) {
    // A newer scheduler reports the conflict; an older one reports success.
    if (!isGrpcServiceError(error) || Number(error.code) !== FAILED_PRECONDITION) throw error;
  }
}

const FAILED_PRECONDITION = 9;

function millisecondsOf(
  time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined,
) {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}

async function create(
  client: ScheduleClient,
  taskQueue: string,
  scheduleId: string,
  queueBinding: QueueBinding,
): Promise<void> {
  try {
    await client.create({
      scheduleId,
      spec: {},
      action: {
        type: 'startWorkflow',
        workflowType: 'mediaJournal',
        taskQueue: `${baseTaskQueue(taskQueue)}/queue-binding`,
        args: [queueBinding],
        // If an operator triggers the schedule, the execution times out immediately, because no worker runs it.
        workflowExecutionTimeout: '1s',
      },
      state: {
        paused: true,
        note:
          `The queue binding of the task queue ${taskQueue}. It identifies the journal that records what was sent and paid for on this queue. ` +
          'Never delete it: workers would send nothing until an operator has checked the calls in flight.',
      },
      memo: STARTED_BY,
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

/**
 * Thrown when a worker's journal is not the one that its task queue is bound to. Such a worker buys nothing: with two
 * journals, something could be bought twice.
 */
export class JournalBindingError extends Error {
  override readonly name = 'JournalBindingError';
}

/** The queue, its journal, and what a rebind may replace. */
export interface BindJournalOptions {
  /** Client for the namespace where the workflows run. */
  readonly client: Client;
  /** The worker's queue. The queues of its activities (`NAME/create`, …) have the same binding. */
  readonly taskQueue: string;
  /** The journal to bind the queue to. */
  readonly journal: CreateJournal;
  /** The worker's artifact store. @default none: the store is not compared */
  readonly artifacts?: ArtifactStore | undefined;
  /** Names of the accounts that the worker serves, including their digests. @default none */
  readonly accounts?: readonly string[] | undefined;
  /** Takes the queue over from another journal. No worker may still use that journal. @default false */
  readonly rebind?: boolean | undefined;
  /**
   * Writes a new mark to the journal and the binding, so that an older copy of the journal is detected. @default false
   */
  readonly mark?: boolean | undefined;
}

/**
 * Binds a task queue to this journal, or confirms that it is bound to it (architecture: Create). Paid activities do so
 * before they send. Workers do so before they poll, so a worker with another journal does not start.
 * @throws JournalBindingError when the queue belongs to another journal, host or artifact store, or may belong to one
 */
export async function bindJournal(options: BindJournalOptions): Promise<QueueBinding> {
  const taskQueue = baseTaskQueue(options.taskQueue);
  const clients = { plain: plainClient(options.client), histories: options.client };
  const request: BindRequest = {
    ...(await options.journal.identity()),
    artifacts: (await options.artifacts?.identity?.()) ?? null,
    accounts: options.accounts ?? [],
    // A rebind also needs a mark, because the mark shows whether this write won.
    mark: options.mark === true || options.rebind === true ? randomUUID() : null,
    ...(options.rebind === true && { rebind: true }),
  };
  // The journal is written first: a kill between the two writes leaves an unused mark, but never a missing one.
  if (request.mark !== null) await options.journal.putMark(request.mark);
  return answered(taskQueue, () => bind(clients, taskQueue, options.journal, request));
}

interface Clients {
  readonly plain: ScheduleClient;
  /** The user's client, because the queue's workers may have written histories through its codec. */
  readonly histories: Client;
}

/** More conflicting writes than workers could ever make between one worker's read and its write. */
const MOST_WRITES = 100;

async function bind(
  { plain: client, histories }: Clients,
  taskQueue: string,
  journal: CreateJournal,
  { rebind, ...asked }: BindRequest,
): Promise<QueueBinding> {
  for (let writes = 0; writes < MOST_WRITES; writes += 1) {
    const found = await readQueueBinding(client, taskQueue);
    const held = found?.queueBinding ?? null;
    if (rebind !== true) await refuse(histories, taskQueue, journal, held, asked);
    const isBound =
      held !== null &&
      found?.isPaused === true &&
      differenceOf(held, asked) === undefined &&
      nextQueueBinding(held, asked) === held;
    if (isBound) return held;
    await writeQueueBinding(
      client,
      taskQueue,
      nextQueueBinding(held, { ...asked, ...(rebind && { rebind }) }),
      found,
    );
  }
  throw new Error('The queue binding could not be written, because other workers kept changing it.');
}

async function refuse(
  histories: Client,
  taskQueue: string,
  journal: CreateJournal,
  held: QueueBinding | null,
  request: BindRequest,
): Promise<void> {
  const difference = differenceOf(held, request);
  if (difference !== undefined) throw new JournalBindingError(refusal(taskQueue, difference));
  if (held !== null) {
    if (await isSetBack(held, journal)) throw new JournalBindingError(setBack(taskQueue));
    return;
  }
  const earlier = await anyPaidCall(histories, taskQueue);
  if (earlier !== undefined) throw new JournalBindingError(bindingGone(taskQueue, earlier));
}

/** Whether this journal lacks the queue's last mark, which means that it was restored from an older copy. */
export async function isSetBack(
  queueBinding: QueueBinding | null,
  journal: Pick<CreateJournal, 'hasMark'>,
): Promise<boolean> {
  const mark = queueBinding?.mark ?? null;
  return mark !== null && !(await journal.hasMark(mark));
}

/** Pauses between attempts while the server does not respond, in milliseconds. */
const PAUSES_MS = [200, 1_000, 3_000];

/** Retries `ask`. @throws JournalBindingError that names what could not be read and the reason */
async function answered<T>(taskQueue: string, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof JournalBindingError) throw error;
      const pause = PAUSES_MS[attempt];
      if (pause === undefined) throw new JournalBindingError(silent(taskQueue, error), { cause: error });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function silent(taskQueue: string, error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const deeper = cause instanceof Error ? `: ${cause.message}` : '';
  return (
    `The queue binding ${mediaJournalScheduleId(taskQueue)} of task queue "${taskQueue}" cannot be read: ${message}${deeper}. ` +
    'Nothing is sent until the binding shows which journal the queue uses for creates. Check that the Temporal server is reachable and ' +
    'allows this worker to describe, create and update schedules; then try again.'
  );
}

function bindingGone(taskQueue: string, earlier: string): string {
  return (
    `The queue binding ${mediaJournalScheduleId(taskQueue)} of task queue "${taskQueue}" was deleted, although paid calls were ` +
    `made on this queue before (${earlier}). It is unknown which journal they used, so nothing is sent. ` +
    'If this is the journal of the earlier workers, or no worker uses their journal any longer, start a worker once with rebind ' +
    '(temporal-media worker --rebind). Calls in flight then wait for a decision.'
  );
}

function setBack(taskQueue: string): string {
  return (
    `This worker's journal is an older copy of the one that task queue "${taskQueue}" uses for creates: its queue binding ` +
    `${mediaJournalScheduleId(taskQueue)} has a later mark. Purchases made since the copy are missing from it, so this worker sends ` +
    "nothing. If the original journal still exists, restore it. If it is lost, stop all of the queue's workers and start one once with " +
    'rebind (temporal-media worker --rebind): it first records what the histories contain about those calls, and calls in flight then ' +
    'wait for a decision.'
  );
}

/** A container has a new host name after every start. */
const SAME_VOLUME =
  'if this is the same volume seen from a new container, set MEDIA_HOST_ID to the same name in all containers and start a worker once with rebind; ';

function refusal(taskQueue: string, difference: BindingDifference): string {
  const why =
    difference === 'artifacts'
      ? 'A worker with another store cannot find what was stored before, so this one sends nothing.'
      : 'Two journals cannot prevent a video from being bought twice, so this worker sends nothing.';
  const same =
    difference === 'artifacts'
      ? 'point this worker at the same artifacts (MEDIA_ARTIFACTS, or a shared store); '
      : 'point this worker at the same journal (MEDIA_JOURNAL, or a shared store); ';
  return (
    `Task queue "${taskQueue}" ${DIFFERS[difference]} This is recorded in its queue binding ${mediaJournalScheduleId(taskQueue)}. ` +
    `${why} Options: ${difference === 'host' ? SAME_VOLUME : ''}${same}` +
    'give it its own task queue (MEDIA_TASK_QUEUE); or, if no worker uses the other one any longer, start a worker once with ' +
    'rebind (temporal-media worker --rebind).'
  );
}

/** Returns a warning if the queue was served with accounts that this worker lacks; undefined otherwise. */
export function accountsOfOthers(accounts: readonly string[], own: readonly string[]): string | undefined {
  const others = accounts.filter((account) => !own.includes(account));
  if (others.length === 0) return undefined;
  return (
    `The task queue also had workers for ${others.join(', ')}, but this worker serves only ${own.join(', ')}. Work for those accounts ` +
    'waits for a worker that serves them. If those accounts are still in use, add them to this worker (MEDIA_ACCOUNTS) or start other workers that serve them.'
  );
}
