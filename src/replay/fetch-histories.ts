import { type Client } from '@temporalio/client';
import { ownRunId, runAfter, runBefore } from './chains';
import { HistoryError } from './history-error';
import { type LoadedRun, type LoadedTarget } from './loaded-history';
import { runOf } from './read-history';

/** Open workflows of a namespace. */
export const ALL_OPEN = "ExecutionStatus = 'Running'";

/** `NOT_FOUND` of gRPC. */
const NOT_FOUND = 5;

/**
 * The history of a workflow with the runs that it continued from or was reset from, and those that it continues in, as far as the server still has them.
 * @param runId of a run of the chain. @default the latest
 * @throws HistoryError `not_found`
 */
export async function fetchChain(client: Client, workflowId: string, runId?: string): Promise<LoadedTarget> {
  const found = await fetchRun(client, workflowId, runId);
  if (found === undefined) {
    const which = runId === undefined ? '' : ` with the run ${runId}`;
    throw new HistoryError(
      'not_found',
      `The namespace ${client.options.namespace} has no workflow ${workflowId}${which}, or no longer its history.`,
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
  return { target: workflowId, runs };
}

/** The history of one run; undefined when the server does not have it. */
export async function fetchRun(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<LoadedRun | undefined> {
  try {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return runOf(history, 'server', { workflowId, runId: runId ?? ownRunId(history) ?? '' });
  } catch (error) {
    const { name, code, cause } = error as { name?: string; code?: unknown; cause?: { code?: unknown } };
    if (name === 'WorkflowNotFoundError' || (code ?? cause?.code) === NOT_FOUND) return undefined;
    throw error;
  }
}
