import { type Client } from '@temporalio/client';
import { listExecutions } from '../client/list-executions';
import { fetchRun } from './fetch-histories';
import { type LoadedRun, type LoadedTarget } from './loaded-history';
import { watchesOf } from './timeline/watcher-polls';

/**
 * A target with the histories of the watchers that polled its video, as far as the server still has them.
 * @param target whose payloads are decoded
 * @param prepare called with the runs of each watcher
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
