import { type Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time';
import { pagesOf } from 'temporal-media/internal/client/workflow-service';
import {
  HistoryError,
  isOver,
  type LoadedRun,
  type LoadedTarget,
  ownRunId,
  type PendingActivity,
  runAfter,
  runBefore,
} from './loaded-history';
import { runOf } from './read-history';
import { watchesOf } from './timeline/watcher-polls';

/** Ids of one execution. */
export interface ExecutionIds {
  readonly workflowId: string;
  readonly runId: string;
}

/** An entry in the server's list of executions. */
export interface ListedExecution extends ExecutionIds {
  /** Run id of the root execution, which can be an ancestor. All runs in a chain share it. */
  readonly rootRunId: string;
}

/**
 * Lists the executions that match a visibility query, page by page. Reads only ids, because a client cannot decode
 * memos that another codec wrote.
 */
export async function* listExecutions(client: Client, query: string): AsyncGenerator<ListedExecution> {
  const { namespace } = client.options;
  for await (const { executions } of pagesOf(namespace, (part) =>
    client.workflowService.listWorkflowExecutions({ ...part, query }),
  ))
    for (const { execution, rootExecution } of executions ?? [])
      if (execution?.workflowId)
        yield {
          workflowId: execution.workflowId,
          runId: execution.runId ?? '',
          rootRunId: rootExecution?.runId ?? '',
        };
}

/** Matches every open workflow in a namespace. */
export const ALL_OPEN = "ExecutionStatus = 'Running'";

/** gRPC's `NOT_FOUND`. */
const NOT_FOUND = 5;

/**
 * Fetches a run's history. Also fetches the earlier runs that it continues or was reset from, and the later runs that
 * continue it, if the server still has them.
 * @param runId a run in the chain. @default the latest
 * @throws HistoryError `not_found`
 */
export async function fetchChain(client: Client, workflowId: string, runId?: string): Promise<LoadedTarget> {
  const found = await fetchRun(client, workflowId, runId);
  if (found === undefined) {
    const which = runId === undefined ? '' : ` with run ${runId}`;
    throw new HistoryError(
      'not_found',
      `Namespace ${client.options.namespace} has no workflow ${workflowId}${which}, or its history was deleted.`,
    );
  }
  const runs = [found];
  for (let before = runBefore(found); before !== undefined;) {
    const run = await fetchRun(client, workflowId, before);
    if (run === undefined) break;
    runs.unshift(run);
    before = runBefore(run);
  }
  for (let after = runAfter(found); after !== undefined;) {
    const run = await fetchRun(client, workflowId, after);
    if (run === undefined) break;
    runs.push(run);
    after = runAfter(run);
  }
  const newest = runs.pop() ?? found;
  return { target: workflowId, runs: [...runs, await withPending(client, newest)] };
}

/** Adds the server's data about an open run's pending activities. */
async function withPending(client: Client, run: LoadedRun): Promise<LoadedRun> {
  if (isOver(run)) return run;
  const { workflowId, runId } = run;
  const { pendingActivities } = await client.workflowService.describeWorkflowExecution({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
  });
  return { ...run, pending: (pendingActivities ?? []).map(pendingOf) };
}

type Pending = NonNullable<
  Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>['pendingActivities']
>[number];

/** `PENDING_ACTIVITY_STATE_SCHEDULED` in the Temporal API. */
const SCHEDULED = 1;

function pendingOf(activity: Pending): PendingActivity {
  const { activityId, attempt, lastStartedTime, lastAttemptCompleteTime, lastFailure } = activity;
  const isOffered = Number(activity.state) === SCHEDULED;
  return {
    activityId: activityId ?? '',
    attempt: attempt ?? 1,
    startedAt: isOffered ? null : (optionalTsToMs(lastStartedTime) ?? null),
    triedUntil: optionalTsToMs(lastAttemptCompleteTime) ?? null,
    offeredAt: isOffered
      ? (optionalTsToMs(activity.nextAttemptScheduleTime ?? activity.scheduledTime) ?? null)
      : null,
    lastFailure: lastFailure ?? null,
  };
}

/** Fetches one run's history. Returns undefined if the server does not have it. */
export async function fetchRun(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<LoadedRun | undefined> {
  try {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const run = runOf(history, 'server', { workflowId, runId: runId ?? ownRunId(history) ?? '' });
    return { ...run, readAt: Date.now() };
  } catch (error) {
    const { name, code, cause } = error as { name?: string; code?: unknown; cause?: { code?: unknown } };
    if (name === 'WorkflowNotFoundError' || (code ?? cause?.code) === NOT_FOUND) return undefined;
    throw error;
  }
}

/**
 * Adds the histories of the watchers that polled the target's video, if the server still has them.
 * @param target the target, with decoded payloads
 * @param prepare called with each watcher's runs
 */
export async function withWatchers(
  client: Client,
  target: LoadedTarget,
  prepare: (watcher: LoadedTarget) => Promise<LoadedTarget | undefined>,
): Promise<LoadedTarget> {
  const watches = target.runs.flatMap(watchesOf);
  if (watches.length === 0) return target;
  const watchers: LoadedTarget[] = [];
  for (const { watcher, from, to } of watches) {
    const closed = `(ExecutionStatus = "Running" OR CloseTime >= "${new Date(from).toISOString()}")`;
    const begun = to === null ? '' : ` AND StartTime <= "${new Date(to).toISOString()}"`;
    const query = `WorkflowId = ${JSON.stringify(watcher)} AND ${closed}${begun}`;
    const runs: LoadedRun[] = [];
    for await (const { workflowId, runId } of listExecutions(client, query)) {
      const run = await fetchRun(client, workflowId, runId);
      if (run !== undefined) runs.push(run);
    }
    const loaded = await prepare({ target: watcher, runs });
    if (loaded !== undefined) watchers.push(loaded);
  }
  return { ...target, watchers };
}

/** Maximum depth of children: a parent, its campaign and the campaign's batches. */
const DEPTH = 3;

/** Returns the child workflows that a target's runs started, in start order and without duplicates. */
export function childrenOf({
  runs,
}: LoadedTarget): readonly { readonly workflowId: string; readonly runId: string }[] {
  const found = new Map<string, { readonly workflowId: string; readonly runId: string }>();
  for (const { history } of runs)
    for (const { childWorkflowExecutionStartedEventAttributes: started } of history.events ?? []) {
      const { workflowId, runId } = started?.workflowExecution ?? {};
      if (workflowId && runId) found.set(runId, { workflowId, runId });
    }
  return [...found.values()];
}

/**
 * Adds the target's children and their children, if the server still has them.
 * @param prepare called with each child before its own children are read
 */
export async function withChildren(
  client: Client,
  target: LoadedTarget,
  prepare: (child: LoadedTarget) => Promise<LoadedTarget | undefined>,
  depth = DEPTH,
): Promise<LoadedTarget> {
  if (depth === 0) return target;
  const children: LoadedTarget[] = [];
  for (const { workflowId, runId } of childrenOf(target)) {
    const chain = await fetchChain(client, workflowId, runId).catch(unlessGone);
    const child = chain === undefined ? undefined : await prepare(chain);
    if (child !== undefined) children.push(await withChildren(client, child, prepare, depth - 1));
  }
  return children.length === 0 ? target : { ...target, children };
}

/** Ignores the error if the execution was deleted, by retention or by a person. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof HistoryError) || error.code !== 'not_found') throw error;
  return undefined;
}
