import { type Client } from '@temporalio/client';
import { type FullLimit } from 'temporal-media';
import { callWaits } from 'temporal-media/internal/client/ask-worker';
import { lenientClient } from 'temporal-media/internal/client/read-payloads';
import {
  standaloneActivities,
  type StandaloneActivity,
} from 'temporal-media/internal/client/workflow-service';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { activityQueues, QUERY, WORKFLOW } from 'temporal-media/internal/domain/names';
import { type CollectRound } from './collect-round';
import { activityValue } from './ended-calls';
import { campaignNotices } from './money-notices';
import { fieldOf, plainId } from './notice';

/** Open calls that are queried, newest first: what holds one back holds back all that follow. */
const MOST_CALLS = 16;
/** Open campaigns that are queried. */
const MOST_CAMPAIGNS = 50;
const AT_ONCE = 4;
/** Time for one query, and for all queries of a round, in milliseconds. */
const QUERY_MS = 3_000;
const QUERIES_MS = 20_000;

const CALLS = [WORKFLOW.generateVideo, WORKFLOW.generateImage, WORKFLOW.editImage];

/**
 * Finds accounts that the service refuses, spend limits that hold calls back, and budgets that are nearly spent. Queries
 * add no event to a history. An execution that does not answer is queried again by the next round.
 * @param minAgeMs the age of calls that are queried: most calls end earlier, and are never disturbed
 * @returns spend limits that hold a call back
 */
export async function findOpen(round: CollectRound, minAgeMs: number): Promise<readonly FullLimit[]> {
  const { client, place, now } = round;
  const endAt = performance.now() + QUERIES_MS;
  const full: FullLimit[] = [];
  const campaigns = await openIds(round, [WORKFLOW.runCampaign], MOST_CAMPAIGNS);
  const calls = await openIds(round, CALLS, MOST_CALLS, now - minAgeMs);
  const ask = [...campaigns, ...calls].map((id) => () => callWaits(client, id, QUERY_MS));
  const images = await openImages(round, now - minAgeMs);
  const look = images.map((image) => () => waitsOfImage(client, place.namespace, image));
  await mapConcurrently([...ask, ...look], AT_ONCE, async (waitsOf) => {
    if (performance.now() > endAt) return;
    round.beat();
    const waits: unknown = await waitsOf().catch(otherwise(undefined));
    for (const wait of Array.isArray(waits) ? waits : []) {
      const [account, reason] = [plainId(fieldOf(wait, 'account')), fieldOf(wait, 'reason')];
      if (account !== null && (reason === 'credentials' || reason === 'quota')) round.closed(account, reason);
      const limit = fullLimit(fieldOf(wait, 'limit'));
      if (limit !== undefined) full.push(limit);
    }
  });
  await mapConcurrently(campaigns, AT_ONCE, async (id) => {
    if (performance.now() > endAt) return;
    round.beat();
    const state = await stateOfCampaign(client, id).catch(otherwise(undefined));
    for (const notice of campaignNotices(place, id, state, now)) await round.post(notice);
  });
  return full;
}

/** Reads what any client's workflow may have answered. Only limits that are configured here are reported. */
function fullLimit(value: unknown): FullLimit | undefined {
  const [payer, per, endsAt] = [fieldOf(value, 'payer'), fieldOf(value, 'per'), fieldOf(value, 'endsAt')];
  const isLimit = typeof payer === 'string' && typeof endsAt === 'string';
  return isLimit ? { payer, per: per as FullLimit['per'], endsAt } : undefined;
}

/** Returns the first executions of a list, which are the newest. */
async function newest<One>({ beat }: CollectRound, list: AsyncIterable<One>, most: number): Promise<One[]> {
  const found: One[] = [];
  for await (const one of list) {
    beat();
    found.push(one);
    if (found.length >= most) break;
  }
  return found;
}

const runningOn = (taskQueue: string, startedBy: number): string =>
  `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = 'Running' AND StartTime <= '${new Date(startedBy).toISOString()}'`;

async function openIds(
  round: CollectRound,
  types: readonly string[],
  most: number,
  startedBy = round.now,
): Promise<readonly string[]> {
  const { client, place } = round;
  const named = types.map((type) => `'${type}'`).join(', ');
  const query = `${runningOn(place.taskQueue, startedBy)} AND WorkflowType IN (${named})`;
  const found = await newest(round, lenientClient(client).list({ query, pageSize: most }), most);
  return found.map(({ workflowId }) => workflowId);
}

/** Returns the newest open image calls without a workflow. They cannot be queried: their last failure says why. */
function openImages(round: CollectRound, startedBy: number): Promise<readonly StandaloneActivity[]> {
  const { client, place } = round;
  const query = runningOn(activityQueues(place.taskQueue).image, startedBy);
  return newest(round, standaloneActivities(client, place.namespace, query), MOST_CALLS);
}

async function waitsOfImage(
  client: Client,
  namespace: string,
  { activityId, runId }: StandaloneActivity,
): Promise<readonly unknown[]> {
  // Only the failure: the input contains a prompt.
  const request = { namespace, activityId, runId, includeLastFailure: true };
  // oxlint-disable-next-line house/no-wall-clock-durations -- the SDK takes a time
  const { info } = await client.withDeadline(Date.now() + QUERY_MS, () =>
    client.workflowService.describeActivityExecution(request),
  );
  const details = info?.lastFailure?.applicationFailureInfo?.details?.payloads;
  return [fieldOf(await activityValue(client, activityId, details), 'waits')];
}

function stateOfCampaign(client: Client, id: string): Promise<unknown> {
  // oxlint-disable-next-line house/no-wall-clock-durations -- the SDK takes a time
  return client.withDeadline(Date.now() + QUERY_MS, () =>
    client.workflow.getHandle(id).query<unknown>(QUERY.campaignState),
  );
}
