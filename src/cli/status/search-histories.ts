import { type Client } from '@temporalio/client';
import { type Payload } from '@temporalio/common';
import { decodedPayload, looking } from '../../client/looking';
import { inLanes } from '../../domain/in-lanes';
import { WORKFLOW } from '../../domain/names';

export interface FoundExecution {
  readonly workflowId: string;
  readonly runId: string;
}

export interface HistorySearch {
  readonly found: FoundExecution | undefined;
  /** How many executions were looked into. */
  readonly searched: number;
}

type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
type HistoryEvent = NonNullable<NonNullable<Page['history']>['events']>[number];

/** Newest executions that are looked into; each costs one small request. */
const MOST_EXECUTIONS = 500;
/** Events of an execution that are read: its start and its create are among the first. */
const EVENTS = 60;
const AT_ONCE = 8;
/** Code of gRPC. */
const NOT_FOUND = 5;
const TYPES = [WORKFLOW.generateVideo, WORKFLOW.awaitVideo];

/**
 * Looks for a task id in the histories of the video workflows that visibility lists, newest first: it needs neither a
 * worker nor a journal. A run that continued as new carries its task in its start.
 */
export async function searchHistories(client: Client, taskId: string): Promise<HistorySearch> {
  const executions: FoundExecution[] = [];
  const query = `WorkflowType IN (${TYPES.map((type) => `'${type}'`).join(', ')})`;
  for await (const { workflowId, runId } of looking(client).list({ query })) {
    executions.push({ workflowId, runId });
    if (executions.length >= MOST_EXECUTIONS) break;
  }
  let found: FoundExecution | undefined;
  let searched = 0;
  await inLanes(executions, AT_ONCE, async (execution) => {
    if (found !== undefined) return;
    searched += 1;
    if (await holdsTask(client, execution, taskId)) found ??= execution;
  });
  return { found, searched };
}

async function holdsTask(client: Client, execution: FoundExecution, taskId: string): Promise<boolean> {
  const { history } = await client.workflowService
    .getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: EVENTS,
    })
    .catch((error: unknown): Partial<Page> => {
      // Visibility lists for a moment what retention has removed.
      if ((error as { readonly code?: unknown }).code !== NOT_FOUND) throw error;
      return {};
    });
  for (const payload of (history?.events ?? []).flatMap(payloadsOf))
    if (names(await valueOf(client, payload), taskId)) return true;
  return false;
}

function payloadsOf(event: HistoryEvent): readonly Payload[] {
  return (
    event.workflowExecutionStartedEventAttributes?.input?.payloads ??
    event.activityTaskCompletedEventAttributes?.result?.payloads ??
    []
  );
}

async function valueOf({ options }: Client, payload: Payload): Promise<unknown> {
  const { loadedDataConverter } = options;
  try {
    return loadedDataConverter.payloadConverter.fromPayload(
      await decodedPayload(loadedDataConverter, payload),
    );
  } catch {
    // Encrypted, or of another kind: it says nothing to us.
    return undefined;
  }
}

/** Whether a field `taskId` somewhere in it has this value. */
function names(value: unknown, taskId: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key === 'taskId' && inner === taskId) || names(inner, taskId),
  );
}
