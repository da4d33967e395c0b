import { randomUUID } from 'node:crypto';
import {
  Client,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
} from '@temporalio/client';
import { defaultPayloadConverter, ValueError } from '@temporalio/common';
import { BINDING_CACHE_MS, type Ledger } from '../domain/journal-binding';
import { baseTaskQueue, mediaJournalScheduleId } from '../domain/names';
import { STARTED_BY } from '../domain/version';

/**
 * The ledger of a task queue: a paused schedule without times, whose only argument is its state. A write is dropped where
 * somebody else has written since the ledger was read, so that all workers of a queue agree. It has no worker, no execution
 * and no task, and every client can read it (ADR 28).
 *
 * @module
 */

/** A ledger as it was read. */
export interface FoundLedger {
  readonly ledger: Ledger;
  /** False where somebody has let it run: without times it would be removed by the server after a while. */
  readonly isPaused: boolean;
  readonly raw: ScheduleDescription['raw'];
}

/** A client on the user's connection that changes nothing in a ledger: no codec, no interceptors. */
export function plainClient({ connection, options }: Pick<Client, 'connection' | 'options'>): Client {
  return new Client({ connection, namespace: options.namespace });
}

/** Null where the queue has no ledger. @throws ValueError where somebody has overwritten it with something else */
export async function readLedger(client: Client, taskQueue: string): Promise<FoundLedger | null> {
  try {
    const { action, raw } = await client.schedule.getHandle(mediaJournalScheduleId(taskQueue)).describe();
    const [held] = (action.args ?? []) as readonly (Ledger | null | undefined)[];
    if (typeof held?.binding?.journalId !== 'string')
      throw new ValueError(
        'the schedule holds no ledger, because somebody has overwritten it; delete it and start once with rebind',
      );
    const written = Math.max(millisecondsOf(raw.info?.createTime), millisecondsOf(raw.info?.updateTime));
    if (written <= 0) throw new ValueError('The server does not say when the schedule was written.');
    const boundSince = held.boundSince || new Date(written + BINDING_CACHE_MS).toISOString();
    return { ledger: { ...held, boundSince }, isPaused: raw.schedule?.state?.paused === true, raw };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/**
 * Writes the ledger. Where somebody else has written it since it was read, nothing happens: only reading it again shows.
 * @param ledger an empty `boundSince` stands for {@link BINDING_CACHE_MS} after this write, in server time
 * @param found what was read before; null where there was none
 */
export async function writeLedger(
  client: Client,
  taskQueue: string,
  ledger: Ledger,
  found: FoundLedger | null,
): Promise<void> {
  const scheduleId = mediaJournalScheduleId(taskQueue);
  if (found === null) return create(client, taskQueue, scheduleId, ledger);
  const { schedule, conflictToken } = found.raw;
  if (!conflictToken?.length) throw new ValueError('The server gives no conflict token for a schedule.');
  const input = { payloads: [defaultPayloadConverter.toPayload(ledger)] };
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
    // A newer scheduler says so, where the older one answers with success.
    if (!isGrpcServiceError(error) || Number(error.code) !== FAILED_PRECONDITION) throw error;
  }
}

const FAILED_PRECONDITION = 9;

function millisecondsOf(
  time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined,
) {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}

async function create(client: Client, taskQueue: string, scheduleId: string, ledger: Ledger): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId,
      spec: {},
      action: {
        type: 'startWorkflow',
        workflowType: 'mediaJournal',
        taskQueue: `${baseTaskQueue(taskQueue)}/ledger`,
        args: [ledger],
        // Triggered by hand, it ends by itself.
        workflowExecutionTimeout: '1s',
      },
      state: {
        paused: true,
        note:
          `The ledger of the task queue ${taskQueue}: it says which journal proves there what was sent and paid for. ` +
          'Never delete it: workers would send nothing until a person has looked at what is under way.',
      },
      memo: STARTED_BY,
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
