import { type Client } from '@temporalio/client';
import { pagesOf } from 'temporal-media/internal/client/raw-service';

/** One execution that a server lists. */
export interface ExecutionIds {
  readonly workflowId: string;
  readonly runId: string;
}

/** As a list of the server has it. */
export interface ListedExecution extends ExecutionIds {
  /** Run with which it all began, that of an ancestor included: the same for runs that continue each other. */
  readonly rootRunId: string;
}

/**
 * Executions that a query of visibility finds, page by page. Reads only ids, so that no memo has to be decoded: a client
 * cannot list executions whose memo another codec wrote.
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
