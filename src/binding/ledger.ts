import { randomUUID } from 'node:crypto';
import {
  Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
} from '@temporalio/client';
import { defaultPayloadConverter, ValueError } from '@temporalio/common';
import { type Ledger } from '../domain/journal-binding';
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
    if (typeof held?.binding?.journalId !== 'string') throw new ValueError('The schedule holds no ledger.');
    const { seconds, nanos } = raw.info?.updateTime ?? raw.info?.createTime ?? {};
    const writtenAt = new Date(Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6).toISOString();
    return { ledger: { ...held, boundSince: held.boundSince || writtenAt }, raw };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/**
 * Writes the ledger. Where somebody else has written it since it was read, nothing happens: only reading it again shows.
 * @param ledger an empty `boundSince` stands for the time of this write, by the clock of the server
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
  await client.workflowService.updateSchedule({
    namespace: client.options.namespace,
    scheduleId,
    schedule: { ...schedule, action: { startWorkflow: { ...schedule?.action?.startWorkflow, input } } },
    conflictToken,
    requestId: randomUUID(),
  });
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
