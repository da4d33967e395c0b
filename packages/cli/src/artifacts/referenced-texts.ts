import { type Client } from '@temporalio/client';
import { encodingTypes, METADATA_ENCODING_KEY, type Payload } from '@temporalio/common';
import { CodecUnreachableError } from 'temporal-media/client';
import { plainClient, readQueueBinding } from 'temporal-media/internal/activities/binding/bind-journal';
import { decodePayloads, isStoredElsewhere } from 'temporal-media/internal/client/read-payloads';
import {
  describeStandalone,
  isGrpcNotFound,
  pagesOf,
  standaloneActivities,
} from 'temporal-media/internal/client/workflow-service';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { baseTaskQueue, mediaJournalScheduleId, WORKFLOW } from 'temporal-media/internal/domain/names';
import { existingJournal } from 'temporal-media/internal/stores/open-stores';
import { type ArtifactStore, type CreateJournal, type JournalPage } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type Connected } from '../shared/connect';
import { CliError, failureOf, withoutSecrets } from '../shared/errors';
import { shownLocation } from '../shared/text';

/** Logs that are read concurrently. */
const LOGS = 200;
const NOTHING_REMOVED = 'Nothing was removed.';

/**
 * The journal of the workers, which names the images that were paid for. @throws CliError when this machine has none
 */
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
 * Checks the bindings of all queues in the namespace: no queue may use this store with another journal.
 * @throws CliError `journal_binding`, or `other_artifact_store` when this command's queue has another store
 */
export async function requireOnlyJournal(
  connected: Connected,
  journal: CreateJournal,
  store: ArtifactStore,
): Promise<void> {
  const client = plainClient(connected.client);
  const [{ journalId }, storeId] = await Promise.all([journal.identity(), store.identity?.()]);
  for (const taskQueue of await boundQueues(connected)) {
    const found = await readQueueBinding(client, taskQueue);
    if (found === null || found.queueBinding.artifacts === null) continue;
    const { queueBinding } = found;
    const isSameStore = queueBinding.artifacts === storeId;
    if (!isSameStore && taskQueue === baseTaskQueue(connected.taskQueue)) {
      throw new CliError(
        'other_artifact_store',
        `The workers of the task queue ${taskQueue} store their files in a different artifact store than this command (MEDIA_ARTIFACTS). ${NOTHING_REMOVED}`,
        {
          hint: 'Set MEDIA_ARTIFACTS (or --data-dir) as on the worker, or MEDIA_TASK_QUEUE to the queue of this store.',
        },
      );
    }
    if (isSameStore && queueBinding.binding.journalId !== journalId) {
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

/** The command's queue, and all bound queues in the namespace. */
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
 * Passes on every log in the journal.
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

/** Receives a text of a workflow; it may contain anything that a user has written. */
type TextSink = (text: string) => void;

/**
 * Open executions have no close time, even while paused. For campaigns, the close event counts too, as long as the
 * server keeps it: it names the results, which may be older, and `campaign report`, `resume` and `retry` start from it.
 */
const QUERY = `CloseTime IS NULL OR (WorkflowType = '${WORKFLOW.runCampaign}' AND ExecutionStatus != 'ContinuedAsNew')`;
const AT_ONCE = 8;

/** The execution that a codec is given as context, besides the namespace. */
type ReadOf =
  | { type: 'workflow'; workflowId: string }
  | { type: 'activity'; activityId: string; isLocal: false };

/**
 * Reads all texts in a namespace's open workflows of any type, its standalone open activities, its campaigns and its
 * schedules.
 */
export class WorkflowTexts {
  /** Closed runs that have been read: nothing is added to them. */
  readonly #read = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly namespace: string,
    private readonly sink: TextSink,
  ) {}

  /**
   * May be called again for workflows that were started in the meantime. A namespace that does not exist has no texts.
   * @throws CliError `payload_unreadable`
   */
  async read(): Promise<void> {
    try {
      for await (const { executions } of pagesOf(this.namespace, (page) =>
        this.#service.listWorkflowExecutions({ ...page, query: QUERY }),
      )) {
        const runs = (executions ?? []).flatMap(({ execution, closeTime }) => {
          const { workflowId, runId } = execution ?? {};
          return workflowId && runId && !this.#read.has(runId)
            ? [{ workflowId, runId, isClosed: closeTime != null }]
            : [];
        });
        await mapConcurrently(runs, AT_ONCE, async ({ isClosed, ...run }) => {
          await this.#readHistory(run);
          // An open execution may receive a name later.
          if (isClosed) this.#read.add(run.runId);
        });
      }
      await this.#readActivities();
      await this.#readSchedules();
    } catch (error) {
      if (!isGrpcNotFound(error)) throw error;
    }
  }

  async #readHistory(execution: { readonly workflowId: string; readonly runId: string }): Promise<void> {
    try {
      for await (const { history } of pagesOf(this.namespace, (page) =>
        this.#service.getWorkflowExecutionHistory({ ...page, execution }),
      ))
        await this.#readPart(
          history,
          { type: 'workflow', ...execution },
          `the workflow ${execution.workflowId}`,
        );
    } catch (error) {
      // It was listed a moment ago, but retention or a person has removed it since.
      if (!isGrpcNotFound(error)) throw error;
    }
  }

  async #readActivities(): Promise<void> {
    const { client, namespace } = this;
    for await (const found of standaloneActivities(client, namespace, "ExecutionStatus = 'Running'")) {
      const described = await describeStandalone(client, namespace, found);
      if (described !== undefined)
        await this.#readPart(
          described,
          { type: 'activity', ...found, isLocal: false },
          `the activity ${found.activityId}`,
        );
    }
  }

  async #readSchedules(): Promise<void> {
    for await (const { schedules } of pagesOf(this.namespace, (page) => this.#service.listSchedules(page))) {
      await mapConcurrently(schedules ?? [], AT_ONCE, async ({ scheduleId }) => {
        if (!scheduleId) return;
        try {
          const found = await this.#service.describeSchedule({ namespace: this.namespace, scheduleId });
          const workflowId = found.schedule?.action?.startWorkflow?.workflowId ?? '';
          await this.#readPart(found, { type: 'workflow', workflowId }, `the schedule ${scheduleId}`);
        } catch (error) {
          if (!isGrpcNotFound(error)) throw error;
        }
      });
    }
  }

  /** Passes on every string and every payload at any depth. */
  async #readPart(part: unknown, of: ReadOf, where: string): Promise<void> {
    const payloads: Payload[] = [];
    collect(part, payloads, this.sink);
    const encoded = payloads.filter((payload) => !isClear(payload));
    for (const payload of payloads) if (isClear(payload)) this.sink(textOf(payload));
    if (encoded.length === 0) return;
    const context = { ...of, namespace: this.namespace };
    const { loadedDataConverter } = this.client.options;
    const decoded = await decodePayloads(loadedDataConverter, encoded, context).catch((error: unknown) => {
      throw error instanceof CodecUnreachableError ? error : unreadable(where);
    });
    if (!decoded.every(isClear)) throw unreadable(where);
    for (const payload of decoded) this.sink(textOf(payload));
  }

  get #service(): Client['workflowService'] {
    return this.client.workflowService;
  }
}

function collect(value: unknown, payloads: Payload[], sink: TextSink): void {
  if (typeof value === 'string') return sink(value);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (isPayload(value)) {
    payloads.push(value);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    sink(key);
    collect(inner, payloads, sink);
  }
}

function isPayload(value: object): value is Payload {
  const { metadata, data } = value as Payload;
  return (
    metadata != null && (metadata[METADATA_ENCODING_KEY] instanceof Uint8Array || data instanceof Uint8Array)
  );
}

/** The SDK's own encodings. An unknown encoding may come from a codec, which hides what the payload names. */
const CLEAR: ReadonlySet<string> = new Set(Object.values(encodingTypes));

/** Whether the bytes of a payload show what it names: no codec encoded it, and it is not stored externally. */
function isClear(payload: Payload): boolean {
  const encoding = Buffer.from(payload.metadata?.[METADATA_ENCODING_KEY] ?? []).toString();
  return CLEAR.has(encoding) && !isStoredElsewhere(payload);
}

const textOf = ({ data }: Payload): string => Buffer.from(data ?? []).toString('latin1');

function unreadable(where: string): CliError {
  return new CliError(
    'payload_unreadable',
    `A payload of ${where} cannot be read here, so it is unknown which artifacts it names. Nothing was removed.`,
    {
      hint: 'Set TEMPORAL_CODEC_ENDPOINT, and TEMPORAL_CODEC_AUTH if the server requires it, to a codec server that returns the payloads of this namespace as JSON. Then repeat the command.',
    },
  );
}
