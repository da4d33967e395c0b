import { Client } from '@temporalio/client';
import { type CallWait } from 'temporal-media';
import { callWaits } from 'temporal-media/internal/client/ask-worker';
import { lenientClient } from 'temporal-media/internal/client/read-payloads';
import { standaloneActivities } from 'temporal-media/internal/client/workflow-service';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { activityQueues, WORKFLOW } from 'temporal-media/internal/domain/names';
import { type StandaloneCall } from '../shared/case';
import { dataConverterOf } from '../shared/data-converter';
import { viewStandalone } from '../shared/execution-state';
import { type DoctorCheck, failedCheck, type Finding, ok, warning } from './check';

/** A paid call or campaign row that is currently waiting to be sent. */
export interface FoundWait extends CallWait {
  readonly workflowId: string;
}

const BUYERS = [WORKFLOW.generateVideo, WORKFLOW.generateImage, WORKFLOW.editImage, WORKFLOW.runCampaign];
/** Maximum number of open executions to query, newest first, because what blocks one also blocks all later ones. */
const MAX_QUERIED = 16;
/** Time limit for the list and all queries together, in milliseconds. */
const QUERIES_MS = 2_500;
/** Maximum number of different reasons to report. */
const MOST_SHOWN = 3;

/**
 * Whether paid calls are waiting instead of being sent, and why. Worker processes keep current refusals in memory (ADR
 * 16), so this check queries the waiting calls' workflows for the reason.
 */
export const waiting: DoctorCheck = {
  name: 'waiting',
  title: 'Waiting calls',
  // A query needs a worker.
  after: ['workers'],
  limitMs: QUERIES_MS + 500,
  late: 'temporal_unreachable',
  run: async ({ target, config, env, accounts, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace, taskQueue } = target;
    const dataConverter = await dataConverterOf(env, namespace, target);
    const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
    const own = accounts.length === 0 ? [config.credential] : accounts.map(({ name }) => name);
    const endAt = Date.now() + QUERIES_MS;
    // Listing uses the server's visibility store, which creating videos does not need.
    const open = await openBuyers(client, taskQueue, endAt).catch(otherwise(undefined));
    if (open === undefined) return warning('The server cannot list running calls.', CHECK_AGAIN_LATER);
    const { workflows, activities } = open;
    const { found, silent } = await waitsOf(client, workflows, endAt);
    const standalone = activities.flatMap((activity) => waitOf(activity) ?? []);
    const asked = workflows.length + activities.length;
    return checkWaits({ found: [...found, ...standalone], silent }, asked, own);
  },
};

/** The newest open calls: workflows by id, and activities without one, which need no query. */
interface OpenBuyers {
  readonly workflows: readonly string[];
  readonly activities: readonly StandaloneCall[];
}

async function openBuyers(client: Client, taskQueue: string, endAt: number): Promise<OpenBuyers> {
  const running = (queue: string) => `TaskQueue = ${JSON.stringify(queue)} AND ExecutionStatus = 'Running'`;
  const types = BUYERS.map((type) => `'${type}'`).join(', ');
  const query = `${running(taskQueue)} AND WorkflowType IN (${types})`;
  return client.withDeadline(endAt, async () => {
    const workflows: string[] = [];
    for await (const { workflowId } of lenientClient(client).list({ query, pageSize: MAX_QUERIED })) {
      workflows.push(workflowId);
      if (workflows.length >= MAX_QUERIED) break;
    }
    const activities: StandaloneCall[] = [];
    const { namespace } = client.options;
    for await (const { activityId } of standaloneActivities(
      client,
      namespace,
      running(activityQueues(taskQueue).image),
    )) {
      const activity = await viewStandalone(client, activityId);
      if (activity !== undefined) activities.push(activity);
      if (activities.length >= MAX_QUERIED) break;
    }
    return { workflows, activities };
  });
}

/** The wait of an activity between two attempts. Other failures explain only their own call. */
function waitOf({ activityId, nextAttemptAt, lastFailure, waits }: StandaloneCall): FoundWait | undefined {
  if (nextAttemptAt === null || lastFailure === null || waits === null) return undefined;
  return { workflowId: activityId, ...waits, why: lastFailure, until: Date.parse(nextAttemptAt) };
}

async function waitsOf(client: Client, workflowIds: readonly string[], endAt: number): Promise<WaitsFound> {
  const found: FoundWait[] = [];
  let silent = 0;
  await mapConcurrently(workflowIds, MAX_QUERIED, async (workflowId) => {
    // The workflow has ended, its worker is busy, or its answer cannot be read here. None of these cases explains why
    // other calls wait.
    const waits = await callWaits(client, workflowId, endAt - Date.now()).catch(otherwise(undefined));
    if (waits === undefined) silent += 1;
    for (const wait of waits ?? []) found.push({ workflowId, ...wait });
  });
  return { found, silent };
}

/** The waits that open calls and campaigns reported, and the number of executions without a readable answer. */
export interface WaitsFound {
  readonly found: readonly FoundWait[];
  readonly silent: number;
}

const CHECK_AGAIN_LATER = 'Check again later. `temporal-media status ID` shows a single video or image.';
const REMEDY =
  "Fix the cause shown above: the key, the account's balance or access, the model, or what the worker lacks. Waiting calls continue automatically at their next attempt, within about three minutes. Do not start them under another id.";
/** Reasons that apply to an entire account. */
const OF_ACCOUNT: ReadonlySet<CallWait['reason']> = new Set(['credentials', 'quota']);

/**
 * @param own the accounts that the next video might use, or only the credential if this machine does not know the
 * service. If one of them is refused, the next video will be refused too
 */
export function checkWaits(
  { found: waits, silent }: WaitsFound,
  asked: number,
  own: readonly string[],
): Finding {
  if (waits.length === 0 && silent > 0)
    return warning(
      `${silent} of the ${asked} newest running calls and campaigns did not respond or cannot be read here (payload codec or external storage), so it is unknown whether they are waiting. The others are not waiting.`,
      CHECK_AGAIN_LATER,
    );
  if (waits.length === 0)
    return ok(asked === 0 ? 'nothing is running' : 'no running calls are waiting to be sent');
  const ids = new Set(waits.map(({ workflowId }) => workflowId));
  const reported = [
    ...new Map(waits.map((wait) => [`${wait.account} ${wait.reason} ${wait.limit?.payer}`, wait])).values(),
  ];
  const of = `${ids.size} of the ${asked} newest running calls and campaigns are waiting.`;
  const message = [of, ...reported.slice(0, MOST_SHOWN).map(waitText)].join(' ');
  const isOwn = ({ account, reason }: FoundWait): boolean =>
    OF_ACCOUNT.has(reason) &&
    own.some((name) => account === name || account?.startsWith(`${name}@`) === true);
  return waits.some(isOwn) ? failedCheck('service_credentials', message, REMEDY) : warning(message, REMEDY);
}

function waitText({ workflowId, why, until, account }: FoundWait): string {
  const whose = account === null ? '' : ` (account ${account})`;
  return `${workflowId} is waiting${whose}. Its next attempt is at ${isoOf(until)}: ${why}`;
}

function isoOf(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}
