import { type Client } from '@temporalio/client';
import { type Payload } from '@temporalio/common';
import { readPayloads } from '../../client/lenient-client';
import { mapConcurrently } from '../../domain/map-concurrently';
import { WORKFLOW } from '../../domain/names';
import { isGrpcNotFound } from '../grpc-not-found';

export interface FoundExecution {
  readonly workflowId: string;
  readonly runId: string;
}

export interface HistorySearch {
  readonly found: FoundExecution | undefined;
  /** How many executions were searched. */
  readonly searched: number;
}

type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
type HistoryEvent = NonNullable<NonNullable<Page['history']>['events']>[number];

/** Most executions that are searched, newest first; each takes one small request. */
const MOST_EXECUTIONS = 500;
/** Events of an execution that are read: its start and its create are among the first. */
const EVENTS = 60;
const AT_ONCE = 8;
const TYPES = [WORKFLOW.generateVideo, WORKFLOW.awaitVideo];

/**
 * Searches the histories of the video workflows that visibility lists, newest first, for a task id. Needs neither a
 * worker nor a journal. A run that continued as new has its task in its start event.
 */
export async function searchHistories(client: Client, taskId: string): Promise<HistorySearch> {
  const executions = await newestExecutions(client);
  let found: FoundExecution | undefined;
  let searched = 0;
  await mapConcurrently(executions, AT_ONCE, async (execution) => {
    if (found !== undefined) return;
    searched += 1;
    if (await holdsTask(client, execution, taskId)) found ??= execution;
  });
  return { found, searched };
}

/** Reads only ids, so that no memo has to be decoded. */
async function newestExecutions(client: Client): Promise<readonly FoundExecution[]> {
  const query = `WorkflowType IN (${TYPES.map((type) => `'${type}'`).join(', ')})`;
  const found: FoundExecution[] = [];
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query,
      ...(nextPageToken != null && { nextPageToken }),
    });
    for (const { execution } of page.executions ?? [])
      found.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
    ({ nextPageToken } = page);
  } while (found.length < MOST_EXECUTIONS && nextPageToken != null && nextPageToken.length > 0);
  return found.slice(0, MOST_EXECUTIONS);
}

async function holdsTask(client: Client, execution: FoundExecution, taskId: string): Promise<boolean> {
  const { history } = await client.workflowService
    .getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: EVENTS,
    })
    .catch((error: unknown): Partial<Page> => {
      // Visibility may still list for a moment what retention has removed.
      if (!isGrpcNotFound(error)) throw error;
      return {};
    });
  const payloads = (history?.events ?? []).flatMap(payloadsOf);
  const { loadedDataConverter, namespace } = client.options;
  const context = { type: 'workflow', namespace, workflowId: execution.workflowId } as const;
  const read = await readPayloads(loadedDataConverter, payloads, context);
  // Payloads that cannot be read, encrypted or of another kind, are ignored.
  return read.some((found) => found !== undefined && names(found.value, taskId));
}

function payloadsOf(event: HistoryEvent): readonly Payload[] {
  return (
    event.workflowExecutionStartedEventAttributes?.input?.payloads ??
    event.activityTaskCompletedEventAttributes?.result?.payloads ??
    []
  );
}

/** Whether a field `taskId` at any depth has this value. */
function names(value: unknown, taskId: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key === 'taskId' && inner === taskId) || names(inner, taskId),
  );
}
