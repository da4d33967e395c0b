import { type Client } from '@temporalio/client';
import { type PaidCallSeen, paidCallsOf, UnreadCallError } from './paid-calls';

/** How long histories are searched for a paid call before a queue is taken for a new one, in milliseconds. */
const READ_FOR_MS = 20_000;

/** The workflow id of an earlier paid call on a queue; undefined when none was found in time. */
export async function anyPaidCall(client: Client, taskQueue: string): Promise<string | undefined> {
  const until = performance.now() + READ_FOR_MS;
  const seen = paidCallsOn(client, taskQueue, () => performance.now() > until);
  try {
    for await (const { workflowId } of seen) return workflowId;
    return undefined;
  } catch (error) {
    // A call that cannot be read was made all the same.
    if (error instanceof UnreadCallError) return error.workflowId;
    throw error;
  }
}

/**
 * Paid calls on a queue, from the histories of its newest executions. @throws UnreadCallError
 * @param isEnough called after each execution, with the number of executions read; `true` ends the search
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
    // The raw service call: a client cannot list executions whose memo another codec wrote.
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
