import { type ArtifactStore, type CreateJournal, type JournalPage } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { plainClient, readLedger } from 'temporal-media/internal/binding/ledger';
import { pagesOf } from 'temporal-media/internal/client/raw-service';
import { baseTaskQueue, mediaJournalScheduleId } from 'temporal-media/internal/domain/names';
import { existingJournal } from 'temporal-media/internal/stores/open-stores';
import { type Connected } from '../connect';
import { CliError, failureOf, withoutSecrets } from '../errors';
import { shownLocation } from '../text';

/** Logs that are read at a time. */
const LOGS = 200;
const NOTHING_REMOVED = 'Nothing was removed.';

/** The journal of the workers, which names the images that were paid for. @throws CliError when there is none here */
export async function requireJournal(config: MediaConfig): Promise<CreateJournal> {
  const journal = await readable(() => existingJournal(config));
  if (journal !== undefined) return journal;
  throw new CliError(
    'journal_unusable',
    `There is no journal at ${shownLocation(config.journal)}, and only a journal names the paid images. ${NOTHING_REMOVED}`,
    { hint: 'Set MEDIA_JOURNAL (or --data-dir) as on the workers that use this artifact store.' },
  );
}

/**
 * Checks by the ledgers of all queues of the namespace that no queue uses this store with another journal.
 * @throws CliError `journal_binding`, or `other_artifact_store` when the queue of this command has another store
 */
export async function requireOnlyJournal(
  connected: Connected,
  journal: CreateJournal,
  store: ArtifactStore,
): Promise<void> {
  const client = plainClient(connected.client);
  const [{ journalId }, storeId] = await Promise.all([journal.identity(), store.identity?.()]);
  for (const taskQueue of await boundQueues(connected)) {
    const found = await readLedger(client, taskQueue);
    if (found === null || found.ledger.artifacts === null) continue;
    const { ledger } = found;
    const isSameStore = ledger.artifacts === storeId;
    if (!isSameStore && taskQueue === baseTaskQueue(connected.taskQueue)) {
      throw new CliError(
        'other_artifact_store',
        `The workers of the task queue ${taskQueue} store their files in a different artifact store than this command (MEDIA_ARTIFACTS). ${NOTHING_REMOVED}`,
        {
          hint: 'Set MEDIA_ARTIFACTS (or --data-dir) as on the worker, or MEDIA_TASK_QUEUE to the queue of this store.',
        },
      );
    }
    if (isSameStore && ledger.binding.journalId !== journalId) {
      throw new CliError(
        'journal_binding',
        `The task queue ${taskQueue} uses this artifact store with another journal, whose artifact names cannot be read here. ${NOTHING_REMOVED}`,
        {
          hint: 'Set MEDIA_JOURNAL as the workers of that queue have it. An artifact store that several journals share cannot be pruned: give each journal a separate artifact store.',
        },
      );
    }
  }
}

/** The queue of the command, and all of the namespace that have a ledger. */
async function boundQueues({ client, taskQueue }: Connected): Promise<ReadonlySet<string>> {
  const queues = new Set([baseTaskQueue(taskQueue)]);
  const prefix = mediaJournalScheduleId('');
  for await (const { schedules } of pagesOf(client.options.namespace, (part) =>
    client.workflowService.listSchedules(part),
  ))
    for (const { scheduleId } of schedules)
      if (scheduleId?.startsWith(prefix)) queues.add(scheduleId.slice(prefix.length));
  return queues;
}

/**
 * Passes on every log of the journal.
 * @returns the namespaces whose paid calls it records
 * @throws CliError `journal_unusable`
 */
export async function readJournal(
  journal: CreateJournal,
  sink: (text: string) => void,
): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  let after: string | null = null;
  do {
    const from: string | null = after;
    const page: JournalPage = await readable(() => journal.scan(from, LOGS));
    for (const log of page.logs) {
      sink(JSON.stringify(log));
      for (const entry of log) if ('namespace' in entry) namespaces.add(entry.namespace);
    }
    after = page.next;
  } while (after !== null);
  return namespaces;
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (failureOf(error).reply.type !== 'unexpected') throw error;
    const why = withoutSecrets(error instanceof Error ? error.message : String(error));
    throw new CliError('journal_unusable', `The journal cannot be read: ${why} ${NOTHING_REMOVED}`);
  }
}
