import { type Client } from '@temporalio/client';
import { type Payload } from '@temporalio/common';
import { decodePayloads } from '../../client/read-payloads';
import {
  describeStandalone,
  pagesOf,
  standaloneActivities,
  type StandaloneDescription,
} from '../../client/workflow-service';
import { announcedIn } from '../../domain/create-heartbeat';
import { activityKey } from '../../domain/creation-key';
import { ACTIVITY, baseTaskQueue } from '../../domain/names';
import { senderName } from '../../domain/paid-call';

/** A paid call, as recorded in its workflow's history. */
export interface PaidCallSeen {
  /** Null for a standalone activity. */
  readonly workflowId: string | null;
  readonly runId: string;
  readonly activityId: string;
  readonly type: string;
  readonly creationKey: string;
  /** Identifies the call's activity in the key's log. */
  readonly sender: string;
  /** The intent named in its last known heartbeat, or null if no heartbeat named one. */
  readonly announced: string | null;
  /** ISO 8601. */
  readonly scheduledAt: string;
  /** The input of its activity, or of its row in a group; null if the input is not an object. */
  readonly input: Fields | null;
  /** Its result; null if the call is open, its worker was lost, or the result cannot be read. */
  readonly answer: Fields | null;
}

type Events = NonNullable<
  Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']
>;

/** Thrown for a paid call whose history cannot be read here: the journal may or may not contain it. */
export class UnreadCallError extends Error {
  override readonly name = 'UnreadCallError';
  constructor(
    readonly workflowId: string | null,
    readonly activityId: string,
    cause: unknown,
  ) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(
      `Paid call ${activityId}${workflowId === null ? '' : ` of workflow ${workflowId}`} cannot be read here: ${why.replace(/\.$/, '')}.`,
      { cause },
    );
  }
}

/**
 * Returns one run's paid calls on a task queue that have left a record in a journal or may have left one.
 * @throws UnreadCallError when the client cannot read a call's payload, because it uses another codec or external
 * storage whose driver is missing
 */
async function paidCallsOf(
  client: Client,
  taskQueue: string,
  run: { readonly workflowId: string; readonly runId: string },
): Promise<readonly PaidCallSeen[]> {
  // Pending activities are read first: an activity that ends in the meantime then appears in the history.
  const described = await client.workflowService.describeWorkflowExecution({
    namespace: client.options.namespace,
    execution: run,
  });
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const isOpen = described.workflowExecutionInfo?.closeTime == null;
  const beats = new Map(
    (described.pendingActivities ?? []).map((one) => [one.activityId, one.heartbeatDetails?.payloads?.[0]]),
  );
  const ends = endsOf(events ?? []);
  const calls: PaidCallSeen[] = [];
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const type = scheduled?.activityType?.name ?? '';
    if (!scheduled || !PAID.has(type) || baseTaskQueue(scheduled.taskQueue?.name ?? '') !== taskQueue)
      continue;
    const activityId = scheduled.activityId ?? '';
    const end = ends.get(String(event.eventId));
    calls.push(
      ...(await callsIn(client, {
        ...run,
        activityId,
        type,
        scheduledSeconds: Number(event.eventTime?.seconds ?? 0),
        input: scheduled.input?.payloads?.[0],
        result: end?.result,
        lastHeartbeat: end === undefined ? beats.get(activityId) : end.lastHeartbeat,
        // A run that is closed from outside loses the heartbeats of its open calls.
        lost: end === undefined ? !isOpen : end.lost,
      })),
    );
  }
  return calls;
}

/**
 * Like {@link paidCallsOf}, for a standalone activity. @throws UnreadCallError
 * @param activity the activity, as the server described it
 */
async function standaloneCallsOf(
  client: Client,
  taskQueue: string,
  activity: StandaloneDescription,
): Promise<readonly PaidCallSeen[]> {
  const { info, input, outcome } = activity;
  const type = info?.activityType?.name ?? '';
  if (!info || !PAID.has(type) || baseTaskQueue(info.taskQueue ?? '') !== taskQueue) return [];
  return callsIn(client, {
    workflowId: null,
    runId: info.runId ?? '',
    activityId: info.activityId ?? '',
    type,
    scheduledSeconds: Number(info.scheduleTime?.seconds ?? 0),
    input: input?.payloads?.[0],
    result: outcome?.result?.payloads?.[0],
    lastHeartbeat: info.heartbeatDetails?.payloads?.[0],
    // The server also keeps the last heartbeat of an activity that has ended.
    lost: outcome != null && outcome.failure == null,
  });
}

/** An activity that may have made a paid call, from a history or from the server. */
interface Scheduled extends Pick<PaidCallSeen, 'workflowId' | 'runId' | 'activityId' | 'type'> {
  readonly scheduledSeconds: number;
  readonly input: Payload | null | undefined;
  readonly result: Payload | null | undefined;
  readonly lastHeartbeat: Payload | null | undefined;
  /** Whether it may have sent a request although no heartbeat says so. */
  readonly lost: boolean;
}

/** Returns an activity's calls: its own, or those of its rows. */
async function callsIn(client: Client, scheduled: Scheduled): Promise<readonly PaidCallSeen[]> {
  const { workflowId, runId, activityId, type, scheduledSeconds, lastHeartbeat } = scheduled;
  const read = reader(client, workflowId, activityId);
  const input = await read(scheduled.input);
  const result = await read(scheduled.result);
  const beat = await read(lastHeartbeat);
  const rows = Array.isArray(input?.['rows']) ? (input['rows'] as readonly unknown[]) : [input];
  return rows.flatMap((row, index) => {
    const own = asFields(row);
    const isRow = row !== input;
    const answers = asFields(result)?.['answers'];
    const answer = asFields(isRow ? (answers as readonly unknown[] | undefined)?.[index] : result);
    const announced = announcedIn(beat, isRow ? index : undefined);
    // Nothing is sent before the server has acknowledged its intent (docs/adr/0015). Details in an unknown format may
    // name an intent.
    const mayHaveSent = lastHeartbeat != null && (beat === null || announced !== null);
    if (!mayHaveLeft(answer, scheduled.lost || mayHaveSent)) return [];
    const given = own?.['creationKey'];
    const creationKey = typeof given === 'string' ? given : activityKey(workflowId, runId, activityId);
    // A group has a single sender, which the activity's input names.
    const named = input?.['sender'];
    const sender = typeof named === 'string' ? named : senderName(runId, activityId);
    const scheduledAt = new Date(scheduledSeconds * 1000).toISOString();
    const place = { workflowId, runId, activityId, type, creationKey };
    return [{ ...place, sender, announced, scheduledAt, input: own, answer }];
  });
}

const PAID: ReadonlySet<string> = new Set([
  ACTIVITY.createVideo,
  ACTIVITY.createVideos,
  ACTIVITY.generateImage,
  ACTIVITY.editImage,
  ACTIVITY.campaignImage,
]);

/** Outcomes after which a key may be used again: nothing was bought, so nothing needs protection. */
const NOTHING_KEPT: ReadonlySet<unknown> = new Set([
  'not_sent',
  'rejected',
  'refused_for_now',
  'cancelled',
  'pending',
]);

/**
 * Whether a paid call has left a record in a journal or may have left one.
 * @param lost whether the call has no answer although a worker may have started it
 */
export function mayHaveLeft(answer: PaidCallSeen['answer'], lost: boolean): boolean {
  if (answer === null) return lost;
  const settled = asFields(unrecordedIn(answer)?.['answer']) ?? answer;
  return !NOTHING_KEPT.has(settled['outcome']);
}

/** The answer to a send that was not written to the journal, with the nonce of its intent. */
export function unrecordedIn(answer: PaidCallSeen['answer']): ReturnType<typeof asFields> {
  return asFields(answer?.['unrecorded']);
}

interface End {
  readonly result?: Payload | null | undefined;
  /** The last heartbeat of its attempts. The history contains it only if the activity timed out. */
  readonly lastHeartbeat?: Payload | null | undefined;
  /** Whether the last heartbeat is unknown. The call then counts as lost unless its result is readable. */
  readonly lost: boolean;
}

/** How activities ended, keyed by the ID of the event that scheduled them. */
function endsOf(events: Events): ReadonlyMap<string, End> {
  const ends = new Map<string, End>();
  for (const event of events) {
    const done = event.activityTaskCompletedEventAttributes;
    if (done) ends.set(String(done.scheduledEventId), { result: done.result?.payloads?.[0], lost: true });
    const failed = event.activityTaskFailedEventAttributes;
    if (failed) ends.set(String(failed.scheduledEventId), { lost: true });
    const late = event.activityTaskTimedOutEventAttributes;
    const lastHeartbeat = late?.failure?.timeoutFailureInfo?.lastHeartbeatDetails?.payloads?.[0];
    if (late) ends.set(String(late.scheduledEventId), { lastHeartbeat, lost: false });
  }
  return ends;
}

/** Returns a function that reads an activity's payloads as the worker that wrote them does. */
function reader(client: Client, workflowId: string | null, activityId: string) {
  const { namespace, loadedDataConverter } = client.options;
  const owner = workflowId === null ? {} : { workflowId };
  const context = { type: 'activity', namespace, ...owner, activityId, isLocal: false } as const;
  return async (payload: Payload | null | undefined): Promise<Fields | null> => {
    if (payload == null) return null;
    try {
      const [read] = await decodePayloads(loadedDataConverter, [payload], context);
      return asFields(loadedDataConverter.payloadConverter.fromPayload(read as Payload, context));
    } catch (error) {
      throw new UnreadCallError(workflowId, activityId, error);
    }
  };
}

type Fields = { readonly [field: string]: unknown };

export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null ? (value as Fields) : null;
}

/** Maximum time to search the histories for a paid call before a queue counts as new, in milliseconds. */
const READ_FOR_MS = 20_000;

/**
 * Returns the ID of a workflow or standalone activity that has already made a paid call on the queue, or undefined if
 * none was found in time.
 */
export async function anyPaidCall(client: Client, taskQueue: string): Promise<string | undefined> {
  const until = performance.now() + READ_FOR_MS;
  const seen = paidCallsOn(client, taskQueue, () => performance.now() > until);
  try {
    for await (const { workflowId, activityId } of seen) return workflowId ?? activityId;
    return undefined;
  } catch (error) {
    // The call was made, although it cannot be read here.
    if (error instanceof UnreadCallError) return error.workflowId ?? error.activityId;
    throw error;
  }
}

/**
 * Yields the paid calls on a queue, from the histories of its newest executions and from standalone activities.
 * @throws UnreadCallError
 * @param isEnough called after each execution with the number of executions read so far; `true` ends the search
 */
export async function* paidCallsOn(
  client: Client,
  taskQueue: string,
  isEnough: (read: number) => boolean,
): AsyncGenerator<PaidCallSeen> {
  const { namespace } = client.options;
  const query = `TaskQueue = ${JSON.stringify(taskQueue)}`;
  let read = 0;
  for await (const { executions } of pagesOf(namespace, (part) =>
    client.workflowService.listWorkflowExecutions({ ...part, query, pageSize: 100 }),
  ))
    for (const { execution } of executions) {
      const { workflowId, runId } = execution ?? {};
      if (workflowId && runId) yield* await paidCallsOf(client, taskQueue, { workflowId, runId });
      read += 1;
      if (isEnough(read)) return;
    }
  const types = [...PAID].map((type) => JSON.stringify(type)).join(', ');
  for await (const found of standaloneActivities(client, namespace, `ActivityType IN (${types})`)) {
    const described = await describeStandalone(client, namespace, found);
    if (described !== undefined) yield* await standaloneCallsOf(client, taskQueue, described);
    read += 1;
    if (isEnough(read)) return;
  }
}
