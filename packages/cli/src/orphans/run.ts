import { type Client, decodeActivityExecutionStatus, type WorkflowExecutionInfo } from '@temporalio/client';
import { type CreatedEntry, type ReviewJournalPage } from 'temporal-media';
import { type ReviewInput, type TemporalMediaClient } from 'temporal-media/client';
import { awaitVideoWorkflowId } from 'temporal-media/client';
import { lenientClient } from 'temporal-media/internal/client/read-payloads';
import { describeWorkflow } from 'temporal-media/internal/client/workflow-handle';
import { describeStandalone } from 'temporal-media/internal/client/workflow-service';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { isOpen, SEARCH_ATTRIBUTE } from 'temporal-media/internal/domain/names';
import { type Connected } from '../shared/connect';
import { type CommandContext } from '../shared/context';
import { CliError } from '../shared/errors';
import { textTable } from '../shared/progress-view';
import { namespaceRetentionMs } from '../shared/retention';
import { commandFor } from '../shared/text';

/** A paid task that no workflow fetches, because its workflow was closed externally before it could report the task. */
interface Orphan extends CreatedEntry {
  /**
   * The close status that its workflow or activity has in Temporal, or `NOT_FOUND` if the server no longer stores it.
   */
  readonly endedAs: string;
}

/** Close statuses of a workflow that has reported its task's outcome or handed the task over. */
const REPORTED: ReadonlySet<string> = new Set(['COMPLETED', 'CONTINUED_AS_NEW']);

const isCaredFor = (status: string): boolean => isOpen(status) || REPORTED.has(status);

const AT_ONCE = 8;
/** Number of tasks per visibility query. */
const IN_ONE_QUERY = 100;

/**
 * Returns the orphans among these tasks. Two visibility requests per hundred tasks settle most of them. Each remaining
 * task takes one or two describe calls.
 * @param keptSince tasks older than this are not orphans if the server no longer stores their workflow
 */
export async function orphansAmong(
  client: Client,
  entries: readonly CreatedEntry[],
  keptSince: Date,
): Promise<readonly Orphan[]> {
  const found: Orphan[] = [];
  const open: CreatedEntry[] = [];
  for (let first = 0; first < entries.length; first += IN_ONE_QUERY)
    open.push(...(await unreported(client, entries.slice(first, first + IN_ONE_QUERY))));
  await mapConcurrently(open, AT_ONCE, async (entry) => {
    const endedAs = await endOf(client, entry, keptSince);
    if (endedAs !== undefined) found.push({ ...entry, endedAs });
  });
  return found.sort((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''));
}

/** An execution, as listed by visibility. */
export type VisibleExecution = Pick<
  WorkflowExecutionInfo,
  'workflowId' | 'status' | 'startTime' | 'searchAttributes'
>;

/**
 * Removes tasks that have already been reported, either by the workflow that created or resumed the task or by another
 * workflow with its task id.
 */
async function unreported(
  client: Client,
  entries: readonly CreatedEntry[],
): Promise<readonly CreatedEntry[]> {
  const byId = await listed(client, 'WorkflowId', entries.flatMap(idsOf));
  const left = entries.filter((entry) => !isReportedById(entry, byId));
  const tasks = left.map(({ taskId }) => taskId);
  const byTask = await listed(client, SEARCH_ATTRIBUTE.taskId, tasks);
  return left.filter((entry) => !isReportedByTask(entry, byTask));
}

/** Returns the ids of the workflow that created a task and the one that resumes it. */
function idsOf({ workflowId, account, taskId }: CreatedEntry): readonly string[] {
  const resume = awaitVideoWorkflowId(account, taskId);
  return workflowId === null ? [resume] : [workflowId, resume];
}

/**
 * Whether the newest run of the workflow that created or resumes the task has completed. A run that visibility lists as
 * open may have closed since, and a run that was continued as new may have been terminated, so the caller must describe
 * both kinds.
 */
export function isReportedById(entry: CreatedEntry, executions: readonly VisibleExecution[]): boolean {
  const newest = newestRuns(executions);
  return idsOf(entry).some((id) => newest.get(id)?.status.name === 'COMPLETED');
}

/** Whether another workflow has completed with the task, such as one started with the same creation key. */
export function isReportedByTask(entry: CreatedEntry, executions: readonly VisibleExecution[]): boolean {
  const own = idsOf(entry);
  const others = executions.filter(
    ({ workflowId, searchAttributes }) =>
      !own.includes(workflowId) && searchAttributes[SEARCH_ATTRIBUTE.taskId]?.[0] === entry.taskId,
  );
  return [...newestRuns(others).values()].some(({ status }) => status.name === 'COMPLETED');
}

function newestRuns(executions: readonly VisibleExecution[]): ReadonlyMap<string, VisibleExecution> {
  const newest = new Map<string, VisibleExecution>();
  for (const execution of executions) {
    const known = newest.get(execution.workflowId);
    if (known === undefined || known.startTime < execution.startTime)
      newest.set(execution.workflowId, execution);
  }
  return newest;
}

/**
 * Lists the executions whose attribute has one of these values. Empty if visibility rejects the query, for example
 * because the attribute is not registered.
 */
async function listed(
  client: Client,
  attribute: string,
  values: readonly string[],
): Promise<readonly VisibleExecution[]> {
  const quoted = values.filter((value) => !/['"\\]/.test(value)).map((value) => `'${value}'`);
  if (quoted.length === 0) return [];
  const found: VisibleExecution[] = [];
  try {
    const query = `${attribute} IN (${quoted.join(', ')})`;
    for await (const execution of lenientClient(client).list({ query })) found.push(execution);
  } catch (error) {
    throwBug(error);
    return [];
  }
  return found;
}

/** Returns how an orphan's workflow ended, or undefined if the task is not an orphan. */
async function endOf(
  client: Client,
  { workflowId, activityId, taskId, account, createdAt }: CreatedEntry,
  keptSince: Date,
): Promise<string | undefined> {
  const status = await (workflowId === null
    ? standaloneStatus(client, activityId)
    : statusOf(client, workflowId));
  if (status !== undefined && isCaredFor(status)) return undefined;
  // The workflow of a task older than the retention period may have succeeded.
  if (status === undefined && (createdAt === null || new Date(createdAt) < keptSince)) return undefined;
  const later = await statusOf(client, awaitVideoWorkflowId(account, taskId));
  if (later !== undefined && isCaredFor(later)) return undefined;
  return status ?? 'NOT_FOUND';
}

/** Returns a standalone activity's status, mapped to workflow statuses. */
async function standaloneStatus(client: Client, activityId: string): Promise<string | undefined> {
  const found = await describeStandalone(client, client.options.namespace, { activityId, runId: '' });
  return decodeActivityExecutionStatus(found?.info?.status);
}

async function statusOf(client: Client, workflowId: string): Promise<string | undefined> {
  return (await describeWorkflow(lenientClient(client), workflowId))?.status.name;
}

/** Lists paid tasks that no workflow fetches, because their own workflow was closed externally. */
export async function findOrphans(
  context: CommandContext,
  connected: Connected,
  sinceMs: number | undefined,
): Promise<void> {
  const { report } = context;
  const now = Date.now();
  const keptSince = new Date(now - (await namespaceRetentionMs(connected.client)));
  const since = sinceMs === undefined ? undefined : new Date(now - sinceMs).toISOString();
  const orphans: Orphan[] = [];
  let scanned = 0;
  for await (const page of readPages(connected, { list: 'created', ...(since !== undefined && { since }) })) {
    orphans.push(...(await orphansAmong(connected.client, page.created, keptSince)));
    scanned += page.scanned;
  }
  if (orphans.length > 0) {
    const rows = orphans.map(({ taskId, creationKey, endedAs, createdAt, account }) => [
      taskId,
      creationKey,
      endedAs,
      createdAt ?? '',
      account,
    ]);
    for (const line of textTable([['TASK', 'ID', 'WORKFLOW', 'CREATED', 'ACCOUNT'], ...rows]))
      report.result(line);
    report.say(
      `These tasks are already paid for. To fetch one, run: ${commandFor('resume', orphans[0]?.taskId ?? 'TASK')}`,
    );
  } else {
    report.say(
      `No orphans: every paid task has a workflow. Checked ${scanned} creation keys in the journal.`,
    );
  }
  report.reply({ ok: true, data: { orphans, scanned } });
}

/** Yields the pages of a worker's journal. @throws CliError when no worker responds */
export async function* readPages(
  connected: Connected,
  input: Omit<ReviewInput, 'after'>,
): AsyncGenerator<ReviewJournalPage> {
  if ((await connected.hasWorker()) === false) {
    throw new CliError(
      'no_worker',
      `No worker is polling task queue ${connected.taskQueue}, and only a worker can read the journal.`,
    );
  }
  let after: string | null = null;
  do {
    const page: ReviewJournalPage = await review(connected.media, { ...input, after });
    yield page;
    after = page.next;
  } while (after !== null);
}

async function review(media: TemporalMediaClient, input: ReviewInput): Promise<ReviewJournalPage> {
  try {
    return await media.reviewJournal(input);
  } catch (error) {
    if ((error as Error).name !== 'WorkflowFailedError') throw error;
    const unreadable = recordErrorOf(error);
    if (unreadable !== undefined) throw new CliError('journal_unusable', unreadable);
    throw new CliError(
      'no_worker',
      'No worker responded within two minutes, and only a worker can read the journal.',
    );
  }
}

/**
 * Returns a worker's message about a record that can never be read, or undefined for any other error.
 */
function recordErrorOf(error: unknown): string | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ((cause as { type?: unknown }).type === 'MediaJournalUnavailable') return cause.message;
  return undefined;
}
