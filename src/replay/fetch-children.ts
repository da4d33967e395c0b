import { type Client } from '@temporalio/client';
import { fetchChain } from './fetch-histories';
import { HistoryError } from './history-error';
import { type LoadedTarget } from './loaded-history';

/** Children of children are read down to this depth: a parent, its campaign, the batches of that. */
const DEPTH = 3;

/** Child workflows that runs have started, each once, in the order of their starts. */
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
 * A target with its children, and theirs, as far as the server still has them.
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

/** Retention or a person has removed it. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof HistoryError) || error.code !== 'not_found') throw error;
  return undefined;
}
