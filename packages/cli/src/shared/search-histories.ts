import {
  type ExecutionIds,
  type ListedExecution,
  listExecutions,
} from '@temporal-media/replay/internal/fetch-histories';
import { type Client } from '@temporalio/client';
import { type Payload } from '@temporalio/common';
import { type ImageOutcome, type VideoTask } from 'temporal-media';
import { type ReadPayload, readPayloads } from 'temporal-media/internal/client/read-payloads';
import { isGrpcNotFound } from 'temporal-media/internal/client/workflow-service';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { activityKey } from 'temporal-media/internal/domain/creation-key';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { ACTIVITY, isImageActivity, SEARCH_ATTRIBUTE, WORKFLOW } from 'temporal-media/internal/domain/names';
import { type WaitingImage } from 'temporal-media/internal/domain/paid-call';
import { type OwnCall } from './case';
import { keyInInput } from './key-of-call';

const PAID_WORKFLOWS: ReadonlySet<string> = new Set([
  WORKFLOW.generateVideo,
  WORKFLOW.awaitVideo,
  WORKFLOW.generateImage,
  WORKFLOW.editImage,
  WORKFLOW.runCampaign,
]);

type Events = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>;

/** Returns the paid calls of a user's workflow in order: child workflows and paid activities. */
export async function ownCalls(client: Client, execution: ExecutionIds): Promise<OwnCall[]> {
  const calls = await keyedCalls(client, execution);
  return calls.map(({ result: _result, ...call }) => call);
}

/**
 * Returns how the image call with this creation key ended in a user's workflow; null if it has not ended, or if its
 * result cannot be read here. Undefined if the workflow has no such call.
 */
export async function outcomeOfCall(
  client: Client,
  execution: ExecutionIds,
  creationKey: string,
): Promise<ImageOutcome | null | undefined> {
  const call = (await keyedCalls(client, execution)).find((one) => one.creationKey === creationKey);
  if (call === undefined || !isImageActivity(call.type)) return call && null;
  const { loadedDataConverter, namespace } = client.options;
  const context = { type: 'activity', namespace, workflowId: execution.workflowId, isLocal: false } as const;
  const [read] = await readPayloads(loadedDataConverter, call.result, { ...context, activityId: call.id });
  const outcome = read?.value as ImageOutcome | WaitingImage | undefined;
  return outcome === undefined || 'sent' in outcome ? null : outcome;
}

type KeyedCall = OwnCall & Pick<CallInHistory, 'result'>;

async function keyedCalls(client: Client, { workflowId, runId }: ExecutionIds): Promise<KeyedCall[]> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const { namespace, loadedDataConverter } = client.options;
  const found = await Promise.all(
    callsIn(events ?? []).map(async ({ input, ...call }) => {
      const { id, type } = call;
      const context = isChild(type)
        ? ({ type: 'workflow', namespace, workflowId: id } as const)
        : ({ type: 'activity', namespace, workflowId, activityId: id, isLocal: false } as const);
      const [read] = await readPayloads(loadedDataConverter, input, context);
      const derived = isChild(type) ? null : activityKey(workflowId, runId, id);
      return { ...call, creationKey: read === undefined ? null : (keyInInput(read.value) ?? derived) };
    }),
  );
  // A call that waits runs further activities under its key.
  return [...new Map(found.map((call) => [call.creationKey ?? `${call.type} ${call.id}`, call])).values()];
}

type CallInHistory = Omit<OwnCall, 'creationKey'> & {
  readonly input: readonly Payload[];
  /** Empty unless an activity has completed. */
  readonly result: readonly Payload[];
};

const isChild = (type: string): boolean => PAID_WORKFLOWS.has(type);

function callsIn(events: Events): CallInHistory[] {
  const calls = new Map<string, CallInHistory>();
  const end = (event: unknown, state: OwnCall['state']): void => {
    const of = (event ?? {}) as {
      readonly initiatedEventId?: unknown;
      readonly scheduledEventId?: unknown;
      readonly result?: { readonly payloads?: readonly Payload[] | null } | null;
    };
    const at = String(of.initiatedEventId ?? of.scheduledEventId);
    const call = calls.get(at);
    if (call !== undefined) calls.set(at, { ...call, state, result: of.result?.payloads ?? [] });
  };
  for (const event of events) {
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    const activity = event.activityTaskScheduledEventAttributes;
    const type = child?.workflowType?.name ?? activity?.activityType?.name ?? '';
    if (isChild(type) || isImageActivity(type) || type === ACTIVITY.createVideo)
      calls.set(String(event.eventId), {
        type,
        id: child?.workflowId ?? activity?.activityId ?? '',
        state: 'open',
        input: (child ?? activity)?.input?.payloads?.slice(0, 1) ?? [],
        result: [],
      });
    end(
      event.childWorkflowExecutionCompletedEventAttributes ?? event.activityTaskCompletedEventAttributes,
      'completed',
    );
    end(
      event.childWorkflowExecutionCanceledEventAttributes ?? event.activityTaskCanceledEventAttributes,
      'cancelled',
    );
    for (const failed of [
      event.childWorkflowExecutionFailedEventAttributes,
      event.childWorkflowExecutionTerminatedEventAttributes,
      event.childWorkflowExecutionTimedOutEventAttributes,
      event.startChildWorkflowExecutionFailedEventAttributes,
      event.activityTaskFailedEventAttributes,
      event.activityTaskTimedOutEventAttributes,
    ])
      end(failed, 'failed');
  }
  return [...calls.values()];
}

export interface HistorySearch {
  readonly found: ExecutionIds | undefined;
  /** Number of executions searched. */
  readonly searched: number;
  /** Number of executions with payloads that cannot be read here. The task may belong to one of them. */
  readonly unread: number;
}

type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
type HistoryEvent = NonNullable<NonNullable<Page['history']>['events']>[number];

/** Maximum number of executions to search, newest first. Each takes one small request. */
const MOST_EXECUTIONS = 500;
/** Number of events to read per execution. Its start and its create are among the first. */
const EVENTS = 60;
const AT_ONCE = 8;
const TYPES = [WORKFLOW.generateVideo, WORKFLOW.awaitVideo];

/**
 * Searches visibility for a task id by its search attribute, then in the histories of the listed video workflows,
 * newest first. Needs neither a worker nor a journal. A continued-as-new run has its task in its start event.
 */
export async function searchHistories(client: Client, taskId: string): Promise<HistorySearch> {
  const [indexed] = await indexedExecutions(client, taskId);
  if (indexed !== undefined) return { found: indexed, searched: 1, unread: 0 };
  const executions = await newestExecutions(client);
  let found: ExecutionIds | undefined;
  let searched = 0;
  let unread = 0;
  await mapConcurrently(executions, AT_ONCE, async (execution) => {
    if (found !== undefined) return;
    searched += 1;
    const holds = await holdsTask(client, execution, taskId);
    if (holds === undefined) unread += 1;
    else if (holds) found ??= execution;
  });
  return { found, searched, unread };
}

const OF_VIDEOS = `WorkflowType IN (${TYPES.map((type) => `'${type}'`).join(', ')})`;

/** Returns an empty list if the namespace lacks the attribute, because visibility then rejects the query. */
async function indexedExecutions(client: Client, taskId: string): Promise<readonly ExecutionIds[]> {
  if (taskId.includes("'")) return [];
  const query = `${OF_VIDEOS} AND ${SEARCH_ATTRIBUTE.taskId} = '${taskId}'`;
  return listed(client, query).catch(otherwise([]));
}

function newestExecutions(client: Client): Promise<readonly ExecutionIds[]> {
  return listed(client, OF_VIDEOS);
}

/** Lists only the first executions, which are the newest. */
async function listed(client: Client, query: string): Promise<readonly ExecutionIds[]> {
  const found: ExecutionIds[] = [];
  for await (const execution of listExecutions(client, query)) {
    found.push(execution);
    if (found.length === MOST_EXECUTIONS) break;
  }
  return found;
}

/**
 * Whether an execution mentions the task. Undefined if its payloads cannot be read here (codec or external storage).
 */
async function holdsTask(
  client: Client,
  execution: ExecutionIds,
  taskId: string,
): Promise<boolean | undefined> {
  const read = await readEvents(client, execution);
  if (read.some((found) => found !== undefined && names(found.value, taskId))) return true;
  return read.includes(undefined) ? undefined : false;
}

/** Reads an execution's input and the results of its first activities. */
async function readEvents(
  client: Client,
  execution: ExecutionIds,
): Promise<readonly (ReadPayload | undefined)[]> {
  const { history } = await client.workflowService
    .getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: EVENTS,
    })
    .catch((error: unknown): Partial<Page> => {
      // Visibility may briefly list executions that retention has removed.
      if (!isGrpcNotFound(error)) throw error;
      return {};
    });
  const payloads = (history?.events ?? []).flatMap(payloadsOf);
  const { loadedDataConverter, namespace } = client.options;
  const context = { type: 'workflow', namespace, workflowId: execution.workflowId } as const;
  return readPayloads(loadedDataConverter, payloads, context);
}

/** Reads an execution's task from its history, for use when no worker answers the state query. */
export async function taskInHistory(client: Client, execution: ExecutionIds): Promise<VideoTask | undefined> {
  const read = await readEvents(client, execution);
  for (const found of read) {
    const { video } = (found?.value ?? {}) as { readonly video?: VideoTask };
    if (typeof video?.taskId === 'string' && typeof video.account === 'string') return video;
  }
  return undefined;
}

function payloadsOf(event: HistoryEvent): readonly Payload[] {
  return (
    event.workflowExecutionStartedEventAttributes?.input?.payloads ??
    event.activityTaskCompletedEventAttributes?.result?.payloads ??
    []
  );
}

/** Whether a `taskId` field at any depth has this value. */
function names(value: unknown, taskId: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key === 'taskId' && inner === taskId) || names(inner, taskId),
  );
}

/** Maximum number of runs to look at for an id, newest first. */
const MOST_LISTED = 50;

/** Returns an id's executions that were started separately, excluding the runs that the given one continues. */
export async function earlierRuns(client: Client, { workflowId, runId }: ExecutionIds): Promise<string[]> {
  if (workflowId.includes("'")) return [];
  const query = `WorkflowId = '${workflowId}'`;
  const found: ListedExecution[] = [];
  try {
    for await (const one of listExecutions(client, query)) {
      found.push(one);
      if (found.length === MOST_LISTED) break;
    }
  } catch (error) {
    // Nothing else needs visibility.
    throwBug(error);
  }
  const own = found.find((one) => one.runId === runId);
  const others = found.filter((one) => one !== own && one.rootRunId !== own?.rootRunId);
  return others.map((one) => one.runId);
}
