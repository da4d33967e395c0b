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

/** Number of journal logs per page. */
const LOGS = 200;
const NOTHING_REMOVED = 'Nothing was removed.';

/**
 * Returns the workers' journal, which contains references to the paid images. @throws CliError when no journal can be
 * found from this machine
 */
export async function requireJournal(config: MediaConfig): Promise<CreateJournal> {
  const journal = await readable(() => existingJournal(config));
  if (journal !== undefined) return journal;
  throw new CliError(
    'journal_unusable',
    `There is no journal at ${shownLocation(config.journal)}. Without a journal, references to paid images are unknown. ${NOTHING_REMOVED}`,
    { hint: "Set MEDIA_JOURNAL (or --data-dir) to the value that this artifact store's workers use." },
  );
}

/**
 * Checks the bindings of all queues in the namespace. Every queue that uses this store must use the given journal.
 * @throws CliError `journal_binding`, or `other_artifact_store` when this command's queue uses another store
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
        `Workers on task queue ${taskQueue} use a different artifact store than this command (MEDIA_ARTIFACTS). ${NOTHING_REMOVED}`,
        {
          hint: "Set MEDIA_ARTIFACTS (or --data-dir) to the workers' value, or set MEDIA_TASK_QUEUE to the queue that uses this store.",
        },
      );
    }
    if (isSameStore && queueBinding.binding.journalId !== journalId) {
      throw new CliError(
        'journal_binding',
        `Task queue ${taskQueue} uses this artifact store with another journal, which this command cannot check for references. ${NOTHING_REMOVED}`,
        {
          hint: "Set MEDIA_JOURNAL to the value that the queue's workers use. An artifact store that several journals share cannot be pruned: give each journal a separate artifact store.",
        },
      );
    }
  }
}

/** Returns the command's queue and all bound queues in the namespace. */
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
 * Passes every log in the journal to the sink.
 * @returns the namespaces that the logs mention
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

/** Receives text from a workflow. The text may contain anything that a user wrote. */
type TextSink = (text: string) => void;

/**
 * Open executions do not have a close time, even when they are paused. Closed campaigns count too until the server
 * removes them: their close event references results, possibly older ones, and `campaign report`, `resume` and `retry`
 * start from that event.
 */
const QUERY = `CloseTime IS NULL OR (WorkflowType = '${WORKFLOW.runCampaign}' AND ExecutionStatus != 'ContinuedAsNew')`;
const AT_ONCE = 8;

/** The execution that is passed to a codec as context, in addition to the namespace. */
type ReadOf =
  | { type: 'workflow'; workflowId: string }
  | { type: 'activity'; activityId: string; isLocal: false };

/**
 * Reads all text in a namespace's open workflows of any type, open standalone activities, campaigns and schedules.
 */
export class WorkflowTexts {
  /** Closed runs that have already been read. They can no longer change. */
  readonly #read = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly namespace: string,
    private readonly sink: TextSink,
  ) {}

  /**
   * Reads all of this text. Can be called again to read workflows that have started since the last call. A namespace
   * that does not exist is treated as empty.
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
          // An open execution may still receive artifact names.
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
      // The execution was removed, by retention or by a person, after it was listed.
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

  /** Passes every string and payload, at any depth, to the sink. */
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

/**
 * The SDK's own encodings. An unknown encoding may come from a codec, in which case references in the payload cannot be
 * found.
 */
const CLEAR: ReadonlySet<string> = new Set(Object.values(encodingTypes));

/** Whether a payload can be searched as is: no codec has encoded it, and it is not stored externally. */
function isClear(payload: Payload): boolean {
  const encoding = Buffer.from(payload.metadata?.[METADATA_ENCODING_KEY] ?? []).toString();
  return CLEAR.has(encoding) && !isStoredElsewhere(payload);
}

const textOf = ({ data }: Payload): string => Buffer.from(data ?? []).toString('latin1');

function unreadable(where: string): CliError {
  return new CliError(
    'payload_unreadable',
    `This command cannot read a payload of ${where}, so the artifacts it references are unknown. Nothing was removed.`,
    {
      hint: "Set TEMPORAL_CODEC_ENDPOINT to a codec server that returns this namespace's payloads as JSON, and TEMPORAL_CODEC_AUTH if that server requires it. For external storage, set MEDIA_EXTERNAL_STORAGE or MEDIA_DATA_CONVERTER. Then repeat the command.",
    },
  );
}
