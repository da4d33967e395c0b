import { createHash } from 'node:crypto';
import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { type ActiveRow } from '../domain/campaign/messages';
import { type CampaignInput } from '../domain/campaign/plan';
import { type ResultsRef } from '../domain/campaign/results';
import {
  type BatchState,
  type CampaignResult,
  type CampaignState,
  SHOWN_ROWS,
} from '../domain/campaign/state';
import { canonical } from '../domain/fingerprint';
import { FINGERPRINT_MEMO, QUERY, WORKFLOW } from '../domain/names';
import { inputIssue } from '../workflows/campaign/input-issue';
import { CampaignUnreadableError, taken } from './errors';
import { lenientClient, readPayloads } from './lenient-client';

/** What a caller says about a campaign; results of earlier runs under the same id are added by the client. */
export type CampaignStart = Omit<CampaignInput, 'previous' | 'carried'>;

/** Memo field of a campaign: what it was started with, so that it can be resumed again from its id alone. */
export const CAMPAIGN_MEMO = 'mediaCampaign';

/** The newest run under an id, as the server lists it. Needs no worker. */
export interface CampaignExecution {
  readonly campaign: string;
  readonly runId: string;
  /** Workflow type: `runCampaign`, unless the id belongs to something else. */
  readonly type: string;
  /** Temporal's word: RUNNING, COMPLETED, FAILED, CANCELLED, TERMINATED, TIMED_OUT. */
  readonly status: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly closedAt: string | null;
  /** What it was started with, by its memo; null for one that no client of ours started, or whose manifest is no artifact. */
  readonly input: CampaignStart | null;
  /** Of manifest and account; null for one that no client of ours started. */
  readonly fingerprint: string | null;
}

/** A worker that does not answer a query is not waited for any longer, in milliseconds. */
const STATE_LIMIT_MS = 15_000;

/**
 * Which manifest it is, and for which account: two starts of one id that differ in it are not the same campaign. Its format
 * is no part of it: whoever starts it may say it or leave it to the bytes.
 */
function campaignFingerprint({ manifest, account }: CampaignStart): string {
  const { source } = manifest;
  const named = 'artifact' in source ? source.artifact.sha256 : source;
  const text = JSON.stringify(canonical({ v: 1, manifest: named, account }));
  return createHash('sha256').update(text).digest('hex');
}

/** An address may be signed and a path tells of a machine: neither goes where everybody who lists workflows reads it. */
export function campaignMemo(input: CampaignStart): { readonly [name: string]: unknown } {
  return {
    [FINGERPRINT_MEMO]: campaignFingerprint(input),
    ...('artifact' in input.manifest.source && { [CAMPAIGN_MEMO]: input }),
  };
}

/** The newest run under this id; undefined when the server has none. */
export async function findCampaign(client: Client, campaign: string): Promise<CampaignExecution | undefined> {
  try {
    return executionOf(campaign, await client.workflow.getHandle(campaign).describe());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * The same with what it was started with also where no client of ours has left a memo, such as by a workflow or a Schedule:
 * that stands where its history begins. Without it where it cannot be read, or is no input of a campaign.
 */
export async function findStarted(client: Client, campaign: string): Promise<CampaignExecution | undefined> {
  const found = await findCampaign(client, campaign);
  if (found?.type !== WORKFLOW.runCampaign || found.fingerprint !== null) return found;
  const input = await firstInput(client, found);
  if (inputIssue(input) !== undefined) return found;
  const { previous: _previous, carried: _carried, select: _select, ...start } = input;
  return {
    ...found,
    input: 'artifact' in start.manifest.source ? start : null,
    fingerprint: campaignFingerprint(start),
  };
}

/** @throws CampaignConflictError when what has the id is not this campaign */
export function requireSame({ campaign, type, fingerprint }: CampaignExecution, input: CampaignStart): void {
  if (type !== WORKFLOW.runCampaign) throw taken(campaign, `It is a ${type}.`);
  if (fingerprint === null) throw taken(campaign, RUNS_UNKNOWN);
  if (fingerprint !== campaignFingerprint(input)) throw taken(campaign, RUNS_ANOTHER);
}

const RUNS_ANOTHER = 'It runs with another manifest or account.';
const RUNS_UNKNOWN = 'Whether it runs with this manifest and account cannot be read here.';

/** What is no input of a campaign at all is not caught here. */
async function firstInput(client: Client, { campaign, runId }: CampaignExecution): Promise<CampaignInput> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId: campaign, runId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const context = { type: 'workflow', namespace, workflowId: campaign } as const;
  const [read] = await readPayloads(loadedDataConverter, payloads, context);
  return read?.value as CampaignInput;
}

/** Campaigns that visibility lists: those that run, then the newest; of each id the newest run. */
export async function listCampaigns(client: Client, most: number): Promise<readonly CampaignExecution[]> {
  const found = new Map<string, CampaignExecution>();
  const query = `WorkflowType = '${WORKFLOW.runCampaign}' AND ExecutionStatus != 'ContinuedAsNew'`;
  for await (const execution of lenientClient(client).list({ query })) {
    const { workflowId } = execution;
    if (found.has(workflowId)) continue;
    if (found.size >= most) break;
    found.set(workflowId, executionOf(workflowId, execution));
  }
  return [...found.values()];
}

/** What a list and a description of the server share. */
type Listed = Pick<WorkflowExecutionInfo, 'runId' | 'type' | 'status' | 'startTime'> & {
  readonly closeTime?: Date | undefined;
  readonly memo?: Record<string, unknown> | undefined;
};

function executionOf(
  campaign: string,
  { runId, type, status, startTime, closeTime, memo }: Listed,
): CampaignExecution {
  return {
    campaign,
    runId,
    type,
    status: status.name,
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
    input: (memo?.[CAMPAIGN_MEMO] as CampaignStart | undefined) ?? null,
    fingerprint: (memo?.[FINGERPRINT_MEMO] as string | undefined) ?? null,
  };
}

/** What a campaign does, or did last. Rejects when no worker answers. */
export function campaignState(client: Client, campaign: string, runId?: string): Promise<CampaignState> {
  return client.withDeadline(Date.now() + STATE_LIMIT_MS, () =>
    client.workflow.getHandle(campaign, runId).query<CampaignState>(QUERY.campaignState),
  );
}

/**
 * Results of a run that has ended: from its result, else from its last state.
 * @throws CampaignUnreadableError when it was closed from outside and no worker answers for it
 */
export async function closedResults(
  client: Client,
  { campaign, runId, status }: CampaignExecution,
): Promise<ResultsRef> {
  if (status === 'COMPLETED') {
    const result = (await client.workflow.getHandle(campaign, runId).result()) as CampaignResult;
    return result.results;
  }
  try {
    return (await campaignState(client, campaign, runId)).results;
  } catch (error) {
    throw new CampaignUnreadableError(campaign, { cause: error });
  }
}

/** Batches that are asked at most, and how long each may take, in milliseconds. */
const MOST_BATCHES = 3;
const BATCH_LIMIT_MS = 2_000;

/**
 * A campaign's state with its active rows as their batches know them now. What the campaign itself knows of them may be a
 * minute old: batches tell it what it needs, because every message is kept in two histories. A query is kept in none.
 */
export async function withActiveRows(client: Client, state: CampaignState): Promise<CampaignState> {
  const batches = state.batches.filter(({ inFlight }) => inFlight > 0).slice(0, MOST_BATCHES);
  if (batches.length === 0) return state;
  const active: ActiveRow[] = [];
  for (const { workflowId } of batches) {
    const rows = await rowsOf(client, workflowId);
    // Of an older worker, ended, or too busy to answer: what was told is all there is.
    if (rows === null) return state;
    active.push(...rows);
    if (active.length >= SHOWN_ROWS) break;
  }
  return { ...state, active: active.slice(0, SHOWN_ROWS) };
}

async function rowsOf(client: Client, workflowId: string): Promise<BatchState['active'] | null> {
  try {
    const { active } = await client.withDeadline(Date.now() + BATCH_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).query<BatchState>(QUERY.batchState),
    );
    return active;
  } catch {
    return null;
  }
}
