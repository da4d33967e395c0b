import { Client } from '@temporalio/client';
import { type NativeConnection, Runtime, type WorkerOptions } from '@temporalio/worker';
import { accountsOfOthers, bindJournal } from '../binding/bind-journal';
import { type CreateJournal } from '../domain/journal';
import { findLostCalls, keepLostCalls, type LostCalls } from '../guard-lost-calls';
import { lacksOfServer } from '../temporal-server-version';
import { type MediaParts } from './media-parts';

/** `true` accepts the calls that are lost; a function receives them before anything is changed, and throws to refuse. */
export type Rebind = boolean | ((lost: LostCalls) => Promise<void>);

export interface QueueToBind {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly dataConverter: WorkerOptions['dataConverter'];
  readonly rebind: Rebind | undefined;
}

/**
 * Binds the queue of a worker to its journal before anything polls, and logs what the server and other workers of the
 * queue make relevant. @throws JournalBindingError
 */
export async function bindQueue(queue: QueueToBind, parts: MediaParts): Promise<void> {
  const { connection, namespace, taskQueue, dataConverter } = queue;
  const { logger } = Runtime.instance();
  const client = new Client({
    connection,
    namespace,
    ...(dataConverter !== undefined && { dataConverter }),
  });
  const rebind = queue.rebind !== undefined && queue.rebind !== false;
  if (rebind) await keepLost(client, queue, parts.journal);
  const { accounts } = await bindJournal({
    client,
    taskQueue,
    journal: parts.journal,
    artifacts: parts.artifacts,
    accounts: parts.accounts,
    rebind,
  });
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const lacks = lacksOfServer(serverVersion);
  if (lacks !== undefined) logger.warn(lacks);
  const unserved = accountsOfOthers(accounts, parts.accounts);
  if (unserved !== undefined) logger.warn(unserved);
}

/** Before the binding changes, keeps the calls of other journals in this one, as far as histories contain them. */
async function keepLost(client: Client, queue: QueueToBind, journal: CreateJournal): Promise<void> {
  const { namespace, taskQueue, rebind } = queue;
  const lost = await findLostCalls(client, taskQueue, namespace, journal);
  if (typeof rebind === 'function') await rebind(lost);
  Runtime.instance().logger.warn('Rebinding: what was paid for under these ids was not in this journal', {
    guarded: [...new Set(lost.calls.map(({ creationKey }) => creationKey))],
    executionsLookedAt: lost.looked,
  });
  await keepLostCalls(journal, namespace, lost.calls);
}
