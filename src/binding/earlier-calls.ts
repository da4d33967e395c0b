import { type Client } from '@temporalio/client';
import { type PaidCallSeen, paidCallsOf } from './paid-calls';

/** Executions whose histories are read before a queue is taken for a new one. */
const LOOKED_AT = 50;

/** The workflow of a paid call that was made on a queue before; undefined when none of the newest made one. */
export async function anyPaidCall(client: Client, taskQueue: string): Promise<string | undefined> {
  for await (const { workflowId } of paidCallsOn(client, taskQueue, LOOKED_AT)) return workflowId;
  return undefined;
}

/** Paid calls on a queue, out of the histories of its newest executions. */
export async function* paidCallsOn(
  client: Client,
  taskQueue: string,
  executions: number,
): AsyncGenerator<PaidCallSeen> {
  const query = `TaskQueue = ${JSON.stringify(taskQueue)}`;
  let left = executions;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: Math.min(left, 100) })) {
    yield* await paidCallsOf(client, taskQueue, { workflowId, runId });
    left -= 1;
    if (left <= 0) return;
  }
}
