import { createHash } from 'node:crypto';
import { type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { throwBug } from '../domain/bug';
import { type ActiveRow } from '../domain/campaign/batch-messages';
import {
  type BatchState,
  type CampaignResult,
  type CampaignState,
  SHOWN_ROWS,
} from '../domain/campaign/campaign-state';
import { CAMPAIGN_SHAPE, type CampaignInput, type RowSelection } from '../domain/campaign/plan';
import { type ResultsRef, type RowCounts } from '../domain/campaign/results';
import { type RowOutcome } from '../domain/campaign/row';
import { canonical } from '../domain/fingerprint';
import { given } from '../domain/json';
import { FINGERPRINT_MEMO, QUERY, SEARCH_ATTRIBUTE, SEARCH_ATTRIBUTES, WORKFLOW } from '../domain/names';
import { shapeIssue } from '../domain/shape';
import { CampaignUnreadableError, taken } from './errors';
import { type StartOptions } from './options';
import { lenientClient, readRunStart } from './read-payloads';
import { describeWorkflow } from './workflow-handle';

/** Rows with these outcomes are continued by `resume` under their existing keys, so that nothing is bought twice. */
export const RESUMED_OUTCOMES = [
  'still_running',
  'unconfirmed',
  'content_unavailable',
  'task_unknown',
  'skipped_budget',
  'cancelled',
] as const satisfies readonly RowOutcome[];

/** Returns the outcomes in `among` that at least one row has. */
export function presentOutcomes<Outcome extends RowOutcome>(
  counts: RowCounts,
  among: readonly Outcome[],
): readonly Outcome[] {
  return among.filter((outcome) => (counts[outcome] ?? 0) > 0);
}

/**
 * Selects the rows that a new run resumes. Without a limit, these are all missing rows. After a limited run that ended
 * normally, they are only the rows that it started. If a limited run ended in any other way, at most as many rows are
 * resumed as that run had left.
 */
export function resumedRows(
  { limit, sample }: CampaignStart,
  ended: { readonly status: string; readonly counts: RowCounts; readonly state: CampaignState | undefined },
): Pick<CampaignStart, 'select' | 'limit' | 'sample'> {
  if (limit === undefined && sample === undefined) return { select: { rows: 'missing' } };
  const outcomes = presentOutcomes(ended.counts, RESUMED_OUTCOMES);
  if (ended.status === 'COMPLETED') return { select: again(outcomes) };
  const startedRows = outcomes.reduce((sum, outcome) => sum + (ended.counts[outcome] ?? 0), 0);
  // Without the last state, the number of remaining rows is unknown, so the limit is the maximum.
  const most = ended.state === undefined ? (limit ?? sample ?? 0) : ended.state.remaining + startedRows;
  return { select: { rows: 'missing' }, ...(limit === undefined ? { sample: most } : { limit: most }) };
}

/** Selects rows with these outcomes, to be resumed under their existing keys. */
export function again(outcomes: readonly RowOutcome[]): RowSelection {
  return { rows: 'again', outcomes };
}

/** Input of a new campaign. The client adds the results of earlier runs with the same ID. */
export type CampaignStart = Omit<CampaignInput, 'previous' | 'carried'>;

/** Memo field that contains a campaign's input, so that the campaign can be resumed with only its ID. */
export const CAMPAIGN_MEMO = 'mediaCampaign';

/** A campaign ID's newest run, as listed by the server. Reading it needs no worker. */
export interface CampaignExecution {
  /** The campaign ID, which is the workflow ID. */
  readonly campaign: string;
  /** The newest run with that ID. */
  readonly runId: string;
  /** Workflow type: `runCampaign`, unless the ID belongs to another workflow. */
  readonly type: string;
  /** Temporal's status value: RUNNING, COMPLETED, FAILED, CANCELLED, TERMINATED, TIMED_OUT. */
  readonly status: string;
  /** ISO 8601 start time. */
  readonly startedAt: string;
  /** ISO 8601 close time; null while it runs. */
  readonly closedAt: string | null;
  /** `completed` or `cancelled`, from the search attributes; null while it runs or without search attributes. */
  readonly outcome: string | null;
  /** The input from the memo; null if no `TemporalMediaClient` started it or the manifest is not an artifact. */
  readonly input: CampaignStart | null;
  /** Hash of the manifest and the account; null if no `TemporalMediaClient` started it. */
  readonly fingerprint: string | null;
}

/** Query timeout in milliseconds. */
const STATE_LIMIT_MS = 15_000;

/**
 * Identifies the manifest and the account. Starts with the same ID but different fingerprints are different campaigns.
 * Omits the format, because a caller can either specify it or let it be detected.
 */
function campaignFingerprint({ manifest, account }: CampaignStart): string {
  const { source } = manifest;
  const named = 'artifact' in source ? source.artifact.sha256 : source;
  const text = JSON.stringify(canonical({ v: 1, manifest: named, account }));
  return createHash('sha256').update(text).digest('hex');
}

/** Creates a campaign's memo. Omits URLs and local paths, because anyone who lists workflows can read memos. */
export function campaignMemo(input: CampaignStart): { readonly [name: string]: unknown } {
  return {
    [FINGERPRINT_MEMO]: campaignFingerprint(input),
    ...('artifact' in input.manifest.source && { [CAMPAIGN_MEMO]: input }),
  };
}

/** Finds the newest run with this ID. Returns undefined if the server has none. */
export async function findCampaign(client: Client, campaign: string): Promise<CampaignExecution | undefined> {
  const found = await describeWorkflow(client.workflow, campaign);
  return found && executionOf(campaign, found);
}

/**
 * Like {@link findCampaign}, but if there is no memo (after a start by a workflow or a Schedule), reads the input from
 * the history's first event. The input stays null if it cannot be decoded or is invalid.
 */
export async function findStarted(client: Client, campaign: string): Promise<CampaignExecution | undefined> {
  const found = await findCampaign(client, campaign);
  if (found?.type !== WORKFLOW.runCampaign || found.fingerprint !== null) return found;
  const input = await firstInput(client, found);
  if (shapeIssue({ ...input, carried: undefined }, CAMPAIGN_SHAPE) !== undefined) return found;
  const { previous: _previous, carried: _carried, select: _select, ...start } = input;
  return {
    ...found,
    input: 'artifact' in start.manifest.source ? start : null,
    fingerprint: campaignFingerprint(start),
  };
}

/** @throws CampaignConflictError if the ID belongs to another workflow or campaign */
export function requireSame({ campaign, type, fingerprint }: CampaignExecution, input: CampaignStart): void {
  if (type !== WORKFLOW.runCampaign) throw taken(campaign, `It belongs to a workflow of type ${type}.`);
  if (fingerprint === null) throw taken(campaign, RUNS_UNKNOWN);
  if (fingerprint !== campaignFingerprint(input)) throw taken(campaign, RUNS_ANOTHER);
}

const RUNS_ANOTHER = 'It belongs to a campaign with another manifest or account.';
const RUNS_UNKNOWN = 'The manifest and account of that campaign cannot be read here.';

/** Reads a workflow's input from its history without validating it. */
async function firstInput(client: Client, { campaign, runId }: CampaignExecution): Promise<CampaignInput> {
  const { input } = await readRunStart(client, { workflowId: campaign, runId });
  return input?.value as CampaignInput;
}

/** Lists campaigns from visibility, running ones first, then the newest. Lists only the newest run of each ID. */
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

/**
 * Returns the Temporal options of the newest run with this ID that another run can start with: its memo, its priority,
 * and the search attributes that neither this package nor the server sets.
 */
export async function keptOptions(client: Client, campaign: string): Promise<StartOptions> {
  const found = await describeWorkflow(client.workflow, campaign);
  if (found === undefined) return {};
  const { memo, typedSearchAttributes, priority } = found;
  const users = typedSearchAttributes
    .getAll()
    .filter(({ key: { name } }) => !SEARCH_ATTRIBUTES.includes(name) && !OF_SERVER.test(name));
  return given({ memo, priority, typedSearchAttributes: users.length === 0 ? undefined : users });
}

/** Names of search attributes that only the server may set. */
const OF_SERVER = /^(Temporal|BuildIds$|BinaryChecksums$|BatcherUser$)/;

/** Fields that list entries and descriptions have in common. */
type Listed = Pick<WorkflowExecutionInfo, 'runId' | 'type' | 'status' | 'startTime' | 'searchAttributes'> & {
  readonly closeTime?: Date | undefined;
  readonly memo?: Record<string, unknown> | undefined;
};

function executionOf(
  campaign: string,
  { runId, type, status, startTime, closeTime, memo, searchAttributes }: Listed,
): CampaignExecution {
  return {
    campaign,
    runId,
    type,
    status: status.name,
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? null,
    outcome: (searchAttributes[SEARCH_ATTRIBUTE.outcome]?.[0] as string | undefined) ?? null,
    input: (memo?.[CAMPAIGN_MEMO] as CampaignStart | undefined) ?? null,
    fingerprint: (memo?.[FINGERPRINT_MEMO] as string | undefined) ?? null,
  };
}

/** Queries a campaign's current or last state. Rejects if no worker answers. */
export function queryCampaignState(client: Client, campaign: string, runId?: string): Promise<CampaignState> {
  return client.withDeadline(Date.now() + STATE_LIMIT_MS, () =>
    client.workflow.getHandle(campaign, runId).query<CampaignState>(QUERY.campaignState),
  );
}

/**
 * Returns the results of a closed run, from its return value or else from its last state.
 * @throws CampaignUnreadableError if the run has no return value and no worker answers the query
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
    return (await queryCampaignState(client, campaign, runId)).results;
  } catch (error) {
    throw new CampaignUnreadableError(campaign, { cause: error });
  }
}

/** Maximum number of batches to query, and the timeout of each query in milliseconds. */
const MOST_BATCHES = 3;
const BATCH_LIMIT_MS = 2_000;

/**
 * Returns a campaign's state with the active rows of its batches. The campaign's copy of these rows may be a minute
 * old. Batches report rarely, because each report is stored in two histories, whereas a query is not stored.
 */
export async function withActiveRows(client: Client, state: CampaignState): Promise<CampaignState> {
  const batches = state.batches.filter(({ inFlight }) => inFlight > 0).slice(0, MOST_BATCHES);
  if (batches.length === 0) return state;
  const active: ActiveRow[] = [];
  for (const { workflowId } of batches) {
    const rows = await rowsOf(client, workflowId);
    // If the batch has ended, is too busy or has an older worker, return the rows that it last reported.
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
  } catch (error) {
    throwBug(error);
    return null;
  }
}
