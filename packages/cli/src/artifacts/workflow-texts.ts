import { type Client } from '@temporalio/client';
import { encodingTypes, METADATA_ENCODING_KEY, type Payload } from '@temporalio/common';
import { CodecUnreachableError } from 'temporal-media/client';
import { decodePayloads, isStoredElsewhere } from 'temporal-media/internal/client/read-payloads';
import {
  describeStandalone,
  standaloneActivities,
} from 'temporal-media/internal/client/standalone-activities';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { WORKFLOW } from 'temporal-media/internal/domain/names';
import { isGrpcNotFound, pagesOf } from 'temporal-media/internal/client/raw-service';
import { CliError } from '../errors';

/** Receives a text of a workflow; it may contain anything that a user has written. */
export type TextSink = (text: string) => void;

/**
 * What is open has no close time, also while it is paused. Of campaigns the end counts too, as long as the server has
 * it: it names the results, which may be older than the end, and `campaign report`, `resume` and `retry` begin with it.
 */
const QUERY = `CloseTime IS NULL OR (WorkflowType = '${WORKFLOW.runCampaign}' AND ExecutionStatus != 'ContinuedAsNew')`;
const AT_ONCE = 8;

/** Of which execution a codec is told, besides the namespace. */
type ReadOf =
  | { type: 'workflow'; workflowId: string }
  | { type: 'activity'; activityId: string; isLocal: false };

/**
 * Reads all texts of the open workflows of a namespace, whatever their type, of its open activities without a workflow,
 * of its campaigns, and of its schedules.
 */
export class WorkflowTexts {
  /** Closed runs that were read: nothing is added to them. */
  readonly #read = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly namespace: string,
    private readonly sink: TextSink,
  ) {}

  /**
   * May be called again, for what was started meanwhile; a namespace that does not exist has none.
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
          // What is open may be told a name later.
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
      // It was listed a moment ago; retention or a person has removed it.
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

/** Of the SDK itself. An unknown one may be that of a codec, which hides what it names. */
const CLEAR: ReadonlySet<string> = new Set(Object.values(encodingTypes));

/** Whether its bytes show what it names: no codec has encoded it, and they are not kept elsewhere. */
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
