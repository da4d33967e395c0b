import { type Client } from '@temporalio/client';
import { type PaidCallSeen, paidCallsOf } from './paid-calls';

/** How long histories are read before a queue in which none of them tells of a paid call is taken for a new one. */
const READ_FOR_MS = 20_000;

/** The workflow of a paid call that was made on a queue before; undefined when none was found in the time that there is. */
export async function anyPaidCall(client: Client, taskQueue: string): Promise<string | undefined> {
  const until = performance.now() + READ_FOR_MS;
  const seen = paidCallsOn(client, taskQueue, () => performance.now() > until);
  for await (const { workflowId } of seen) return workflowId;
  return undefined;
}

/**
 * Paid calls on a queue, out of the histories of its newest executions.
 * @param isEnough asked after each execution, with the number of those that were looked at
 */
export async function* paidCallsOn(
  client: Client,
  taskQueue: string,
  isEnough: (looked: number) => boolean,
): AsyncGenerator<PaidCallSeen> {
  const { namespace } = client.options;
  const query = `TaskQueue = ${JSON.stringify(taskQueue)}`;
  let looked = 0;
  let nextPageToken: Uint8Array | undefined;
  do {
    // As it comes from the server: a memo behind a codec of others could not be read.
    const page = await client.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: 100,
      ...(nextPageToken !== undefined && { nextPageToken }),
    });
    for (const { execution } of page.executions) {
      const { workflowId, runId } = execution ?? {};
      if (workflowId && runId) yield* await paidCallsOf(client, taskQueue, { workflowId, runId });
      looked += 1;
      if (isEnough(looked)) return;
    }
    ({ nextPageToken } = page);
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
}
