import { type Client } from '@temporalio/client';

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
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query,
      ...(nextPageToken !== undefined && { nextPageToken }),
    });
    for (const { execution, rootExecution } of page.executions ?? [])
      if (execution?.workflowId)
        yield {
          workflowId: execution.workflowId,
          runId: execution.runId ?? '',
          rootRunId: rootExecution?.runId ?? '',
        };
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined);
}
