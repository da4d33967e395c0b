import { type Client, decodeActivityExecutionStatus } from '@temporalio/client';
import { type SerializationContext } from '@temporalio/common';
import { lenientClient, readPayloads } from 'temporal-media/internal/client/read-payloads';
import { describeStandalone, standaloneActivities } from 'temporal-media/internal/client/workflow-service';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { ACTIVITY, activityQueues, WORKFLOW } from 'temporal-media/internal/domain/names';
import { idArgument } from 'temporal-media/internal/domain/terminal-text';
import { type CreateJournal } from 'temporal-media/stores';
import { noticesOfLog, refusedAccount } from './journal-notices';
import { campaignNotices } from './money-notices';
import {
  fieldOf,
  numbersIn,
  plainId,
  makeNotice,
  type Notice,
  type NoticePlace,
  plainNumber,
  plainWord,
} from './notice';

/** One search for events. Everything that it finds is posted. */
export interface CollectRound {
  readonly client: Client;
  readonly place: NoticePlace;
  /** Undefined if this machine has none. */
  readonly journal: CreateJournal | undefined;
  /** Workflow time, in milliseconds since the Unix epoch. */
  readonly since: number;
  readonly now: number;
  /** Reports progress, and throws if the worker stops. */
  readonly beat: () => void;
  /** Whether this process has not yet posted an execution's notices. */
  readonly isNew: (runId: string) => boolean;
  /** Starts the delivery of a notice, unless it was started before. */
  readonly post: (notice: Notice) => Promise<void>;
  /** Reports that the service refuses an account's calls. */
  readonly closed: (account: string, reason: string) => void;
}

/** Executions that are read at the same time. */
const AT_ONCE = 4;

const KINDS: { readonly [type: string]: string } = {
  [WORKFLOW.generateVideo]: 'video',
  [WORKFLOW.awaitVideo]: 'wait',
  [WORKFLOW.generateImage]: 'image',
  [WORKFLOW.editImage]: 'edit',
  [WORKFLOW.runCampaign]: 'campaign',
  [ACTIVITY.generateImage]: 'image',
  [ACTIVITY.editImage]: 'edit',
};

interface Ended {
  readonly id: string;
  readonly runId: string;
  readonly kind: string;
  /** Temporal's status. */
  readonly status: string;
  readonly closedAt: number;
  /** What it returned; undefined if nothing, or if it cannot be read here. */
  readonly result: unknown;
}

/** Finds the calls and campaigns of the queue that have closed since a time, in whatever way. */
export async function findEnded(round: CollectRound, closedSince: number): Promise<void> {
  const since = `CloseTime >= '${new Date(closedSince).toISOString()}'`;
  await findWorkflows(round, since);
  await findActivities(round, since);
}

async function findWorkflows(round: CollectRound, since: string): Promise<void> {
  const { client, place, beat, isNew } = round;
  const types = Object.keys(KINDS).map((type) => `'${type}'`);
  const query = `TaskQueue = ${JSON.stringify(place.taskQueue)} AND WorkflowType IN (${types.join(', ')}) AND ExecutionStatus != 'ContinuedAsNew' AND ${since}`;
  const found: Omit<Ended, 'result'>[] = [];
  for await (const one of lenientClient(client).list({ query, pageSize: 1_000 })) {
    beat();
    const { workflowId: id, runId, type, status, closeTime } = one;
    if (closeTime === undefined || !isNew(runId)) continue;
    const kind = KINDS[type] ?? type;
    found.push({ id, runId, kind, status: status.name, closedAt: closeTime.getTime() });
  }
  await mapConcurrently(found, AT_ONCE, async (one) => {
    beat();
    const result = one.status === 'COMPLETED' ? await resultOf(client, one.id, one.runId) : undefined;
    await postEnded(round, { ...one, result });
  });
}

async function resultOf(client: Client, workflowId: string, runId: string): Promise<unknown> {
  const { namespace } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    ...{ namespace, execution: { workflowId, runId }, maximumPageSize: 1 },
  });
  const payloads = history?.events?.[0]?.workflowExecutionCompletedEventAttributes?.result?.payloads;
  return valueOf(client, payloads, { type: 'workflow', namespace, workflowId });
}

async function findActivities(round: CollectRound, since: string): Promise<void> {
  const { client, place, beat, isNew } = round;
  const { namespace } = place;
  const query = `TaskQueue = ${JSON.stringify(activityQueues(place.taskQueue).image)} AND ${since}`;
  for await (const activity of standaloneActivities(client, namespace, query)) {
    beat();
    const { activityId: id, runId } = activity;
    if (!isNew(runId)) continue;
    const found = await describeStandalone(client, namespace, activity);
    const { info, outcome } = found ?? {};
    const kind = KINDS[info?.activityType?.name ?? ''];
    if (info?.closeTime == null || kind === undefined) continue;
    const result = await activityValue(client, id, outcome?.result?.payloads);
    const status = decodeActivityExecutionStatus(info.status) ?? 'UNKNOWN';
    await postEnded(round, {
      id,
      runId,
      kind,
      status,
      closedAt: Number(info.closeTime.seconds) * 1_000,
      result,
    });
  }
}

/** Returns the first value of what an activity without a workflow has returned or reported. */
export function activityValue(
  client: Client,
  activityId: string,
  payloads: Parameters<typeof readPayloads>[1] | null | undefined,
): Promise<unknown> {
  const { namespace } = client.options;
  return valueOf(client, payloads, { type: 'activity', namespace, activityId, isLocal: false });
}

async function valueOf(
  { options }: Client,
  payloads: Parameters<typeof readPayloads>[1] | null | undefined,
  context: SerializationContext,
): Promise<unknown> {
  const [read] = await readPayloads(options.loadedDataConverter, payloads ?? [], context);
  return read?.value;
}

async function postEnded(round: CollectRound, ended: Ended): Promise<void> {
  for (const notice of ended.kind === 'campaign' ? ofCampaign(round, ended) : await ofCall(round, ended))
    await round.post(notice);
}

async function ofCall(round: CollectRound, ended: Ended): Promise<readonly Notice[]> {
  const { place } = round;
  const { id, runId, kind, status, closedAt, result } = ended;
  const key = fieldOf(result, 'creationKey');
  const outcome = plainWord(fieldOf(result, 'outcome'));
  const reason = plainWord(fieldOf(result, 'reason'));
  const video = fieldOf(result, 'video');
  const facts = {
    ...{ id, runId, kind, status, outcome, reason, creationKey: plainId(key), cost: costOf(result) },
    ...{ taskId: plainId(fieldOf(video, 'taskId')), account: plainId(fieldOf(video, 'account')) },
    command: `temporal-media status ${idArgument(id)}`,
  };
  const notices = [makeNotice(place, 'call.ended', [id, runId], closedAt, facts)];
  const isOpen = outcome === 'unconfirmed' || outcome === 'results_lost';
  if (!isOpen && facts.cost.state === 'needs_review')
    notices.push(makeNotice(place, 'call.review', [id, runId], closedAt, facts));
  const isRefused = outcome === 'rejected' && (reason === 'credentials' || reason === 'quota');
  if (!isOpen && !isRefused) return notices;
  const log = await logOf(round, key);
  const account = isRefused && log !== undefined ? refusedAccount(log) : undefined;
  if (account !== undefined && reason !== null) round.closed(account, reason);
  if (isOpen && log !== undefined)
    notices.push(...noticesOfLog(place, log, round.now).map(({ notice }) => notice));
  // Without the journal, nothing distinguishes the sends of a key.
  if (isOpen && log === undefined)
    notices.push(makeNotice(place, `call.${outcome}`, [id, runId], closedAt, facts));
  return notices;
}

/** Returns the log of a call; undefined if the journal does not contain it, or if it cannot be read anymore. */
async function logOf({ journal, place: { namespace } }: CollectRound, creationKey: unknown) {
  if (journal === undefined || typeof creationKey !== 'string') return undefined;
  try {
    const log = await journal.read({ namespace, creationKey });
    return log.length === 0 ? undefined : log;
  } catch (error) {
    if ((error as Error).name !== 'JournalRecordError') throw error;
    return undefined;
  }
}

function costOf(result: unknown) {
  const billing = fieldOf(result, 'billing');
  return {
    state: plainWord(fieldOf(billing, 'state')),
    microUnits: plainNumber(fieldOf(billing, 'estimate')),
    currency: plainWord(fieldOf(billing, 'currency')),
  };
}

function ofCampaign(
  { place, now }: CollectRound,
  { id, runId, status, closedAt, result }: Ended,
): readonly Notice[] {
  const [counts, money] = [numbersIn(fieldOf(result, 'counts')), numbersIn(fieldOf(result, 'money'))];
  const currency = plainWord(fieldOf(result, 'currency'));
  const facts = {
    ...{ campaign: id, runId, status, outcome: plainWord(fieldOf(result, 'outcome')), counts },
    cost: { ...money, currency },
    command: `temporal-media campaign report ${idArgument(id)}`,
  };
  const notices = [makeNotice(place, 'campaign.ended', [id, runId], closedAt, facts)];
  if ((money['needsReview'] ?? 0) > 0)
    notices.push(makeNotice(place, 'call.review', [id, runId], closedAt, facts));
  return [...notices, ...campaignNotices(place, id, result, now)];
}
