import { type Client, decodeActivityExecutionStatus } from '@temporalio/client';
import { type SerializationContext } from '@temporalio/common';
import { lenientClient, readPayloads } from 'temporal-media/internal/client/read-payloads';
import {
  describeStandalone,
  type StandaloneActivity,
  standaloneActivities,
  unlessDenied,
} from 'temporal-media/internal/client/workflow-service';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { ACTIVITY, activityQueues, WORKFLOW } from 'temporal-media/internal/domain/names';
import { type CollectRound, orLater, readOrGiveUp } from './collect-round';
import { type Ended, postEnded } from './ended-notices';

/** Executions that are read at the same time. */
const AT_ONCE = 4;
/**
 * How much time one list covers, in milliseconds. After an outage, a round reads slice after slice from the oldest on, so
 * that the next one can continue where its time ended.
 */
const SLICE_MS = 15 * 60_000;

const KINDS: { readonly [type: string]: string } = {
  [WORKFLOW.generateVideo]: 'video',
  [WORKFLOW.awaitVideo]: 'wait',
  [WORKFLOW.generateImage]: 'image',
  [WORKFLOW.editImage]: 'edit',
  [WORKFLOW.runCampaign]: 'campaign',
  [ACTIVITY.generateImage]: 'image',
  [ACTIVITY.editImage]: 'edit',
};

/** What a search has not posted. */
export interface Left {
  /** Everything that closed before this time was posted: milliseconds since the Unix epoch. Infinity if nothing is left. */
  readonly from: number;
  /** Executions that could not be read or posted. */
  readonly failed: number;
}

/** An execution that a list contains. */
interface Found {
  readonly runId: string;
  /** When it closed, or an earlier time. */
  readonly closedAt: number;
  /** Undefined if its end is not an event. */
  readonly read: () => Promise<Ended | undefined>;
}

interface Slice {
  readonly from: number;
  /** The condition of a list. */
  readonly closed: string;
}

/** Lists the executions of a slice that this process has not posted, the oldest first. */
type List = (round: CollectRound, slice: Slice) => Promise<readonly Found[]>;

/**
 * Finds the calls and campaigns of the queue that have closed since a time, in whatever way. An execution that fails does
 * not keep the others waiting.
 */
export async function findEnded(round: CollectRound, closedSince: number): Promise<Left> {
  const left = { from: Infinity, failed: 0 };
  const lists = new Set<List>([endedWorkflows, endedActivities]);
  for (let from = closedSince; ; from += SLICE_MS) {
    const to = from + SLICE_MS;
    const isLast = to >= round.now;
    const slice = { from, closed: `CloseTime >= '${timeOf(from)}'` };
    if (!isLast) slice.closed += ` AND CloseTime < '${timeOf(to)}'`;
    for (const list of lists) {
      const found = await orLater('list ended calls', undefined, () => list(round, slice));
      if (found !== undefined) await postAll(round, found, left);
      else {
        left.from = Math.min(left.from, from);
        lists.delete(list);
      }
    }
    if (isLast || lists.size === 0) return left;
    if (round.isOver()) return { ...left, from: Math.min(left.from, to) };
  }
}

const timeOf = (at: number): string => new Date(at).toISOString();

async function postAll(
  round: CollectRound,
  found: readonly Found[],
  left: { -readonly [part in keyof Left]: Left[part] },
): Promise<void> {
  // A list may take all of the time, so some of what it found is always read.
  const first = new Set(found.slice(0, AT_ONCE));
  await mapConcurrently(found, AT_ONCE, async (one) => {
    if (first.has(one) || !round.isOver()) {
      round.beat();
      try {
        const ended = await one.read();
        if (ended !== undefined) await postEnded(round, ended);
        round.done(one.runId);
        return;
      } catch (error) {
        throwBug(error);
        round.beat();
        left.failed += 1;
      }
    }
    left.from = Math.min(left.from, one.closedAt);
  });
}

async function endedWorkflows(round: CollectRound, { closed }: Slice): Promise<readonly Found[]> {
  const { client, place, beat, isNew } = round;
  const types = Object.keys(KINDS).map((type) => `'${type}'`);
  const query = `TaskQueue = ${JSON.stringify(place.taskQueue)} AND WorkflowType IN (${types.join(', ')}) AND ExecutionStatus != 'ContinuedAsNew' AND ${closed}`;
  const found: Found[] = [];
  for await (const one of lenientClient(client).list({ query, pageSize: 1_000 })) {
    beat();
    const { workflowId: id, runId, type, status, closeTime } = one;
    if (closeTime === undefined || !isNew(runId)) continue;
    const [kind, closedAt] = [KINDS[type] ?? type, closeTime.getTime()];
    const read = () => readWorkflow(round, { id, runId, kind, status: status.name, closedAt });
    found.push({ runId, closedAt, read });
  }
  return found.sort((one, other) => one.closedAt - other.closedAt);
}

async function readWorkflow(round: CollectRound, one: Omit<Ended, 'result'>): Promise<Ended | undefined> {
  const { client } = round;
  const { id, runId, closedAt } = one;
  if (one.status === 'COMPLETED')
    return { ...one, result: await readOrGiveUp(round, closedAt, () => resultOf(client, id, runId)) };
  const continues = await readOrGiveUp(round, closedAt, () => isContinued(client, id, runId));
  return continues === true ? undefined : { ...one, result: undefined };
}

/**
 * Whether a newer run continues a call: a reset terminates the old run and keeps its chain. The end of the newest run is
 * the one that is reported. A run that was started separately has another chain.
 */
async function isContinued(
  { options: { namespace }, workflowService }: Client,
  workflowId: string,
  runId: string,
): Promise<boolean> {
  const describe = async (run: string) => {
    const execution = { workflowId, runId: run };
    const described = await workflowService.describeWorkflowExecution({ namespace, execution });
    return described.workflowExecutionInfo;
  };
  const newest = await describe('');
  if (newest?.execution?.runId === runId) return false;
  return newest?.firstRunId === (await describe(runId))?.firstRunId;
}

async function resultOf(client: Client, workflowId: string, runId: string): Promise<unknown> {
  const { namespace } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    ...{ namespace, execution: { workflowId, runId }, maximumPageSize: 1 },
  });
  const payloads = history?.events?.[0]?.workflowExecutionCompletedEventAttributes?.result?.payloads;
  return resultIn(client, payloads, { type: 'workflow', namespace, workflowId });
}

async function endedActivities(round: CollectRound, { from, closed }: Slice): Promise<readonly Found[]> {
  const { client, place, beat, isNew } = round;
  const query = `TaskQueue = ${JSON.stringify(activityQueues(place.taskQueue).image)} AND ${closed}`;
  const found: Found[] = [];
  try {
    for await (const activity of standaloneActivities(client, place.namespace, query)) {
      beat();
      const { runId } = activity;
      if (isNew(runId)) found.push({ runId, closedAt: from, read: () => readActivity(round, activity) });
    }
  } catch (error) {
    unlessDenied(error);
  }
  // The list is newest first.
  return found.reverse();
}

async function readActivity(round: CollectRound, activity: StandaloneActivity): Promise<Ended | undefined> {
  const { client, place } = round;
  const { namespace } = place;
  const { activityId, runId } = activity;
  const { info, outcome } = (await describeStandalone(client, namespace, activity)) ?? {};
  const kind = KINDS[info?.activityType?.name ?? ''];
  if (info?.closeTime == null || kind === undefined) return undefined;
  const closedAt = Number(info.closeTime.seconds) * 1_000;
  const context = { type: 'activity', namespace, activityId, isLocal: false } as const;
  const result = await readOrGiveUp(round, closedAt, () =>
    resultIn(client, outcome?.result?.payloads, context),
  );
  const status = decodeActivityExecutionStatus(info.status) ?? 'UNKNOWN';
  return { id: activityId, runId, kind, status, closedAt, result };
}

/** Returns the first value of what an activity without a workflow has reported; undefined if it cannot be read. */
export async function activityValue(
  client: Client,
  activityId: string,
  payloads: Payloads,
): Promise<unknown> {
  const { namespace } = client.options;
  const context = { type: 'activity', namespace, activityId, isLocal: false } as const;
  return (await valueIn(client, payloads, context))?.value;
}

type Payloads = Parameters<typeof readPayloads>[1] | null | undefined;

/** @throws UnreadableResultError, or CodecUnreachableError */
async function resultIn(client: Client, payloads: Payloads, context: SerializationContext): Promise<unknown> {
  const read = await valueIn(client, payloads, context);
  // A storage that is down for a moment looks like this too.
  if (read === undefined && (payloads?.length ?? 0) > 0) throw new UnreadableResultError();
  return read?.value;
}

async function valueIn({ options }: Client, payloads: Payloads, context: SerializationContext) {
  const [read] = await readPayloads(options.loadedDataConverter, payloads ?? [], context);
  return read;
}

class UnreadableResultError extends Error {
  override readonly name = 'UnreadableResultError';
}
