import { type Client } from '@temporalio/client';
import { describeStandalone, standaloneActivities } from '../client/standalone-activities';
import { PAID, type PaidCallSeen, paidCallsOf, standaloneCallsOf, UnreadCallError } from './paid-calls';

/** How long histories are searched for a paid call before a queue is taken for a new one, in milliseconds. */
const READ_FOR_MS = 20_000;

/** The id of the workflow, or of the activity without one, that paid on a queue before; undefined when none was found in time. */
export async function anyPaidCall(client: Client, taskQueue: string): Promise<string | undefined> {
  const until = performance.now() + READ_FOR_MS;
  const seen = paidCallsOn(client, taskQueue, () => performance.now() > until);
  try {
    for await (const { workflowId, activityId } of seen) return workflowId ?? activityId;
    return undefined;
  } catch (error) {
    // A call that cannot be read was made all the same.
    if (error instanceof UnreadCallError) return error.workflowId ?? error.activityId;
    throw error;
  }
}

/**
 * Paid calls on a queue, from the histories of its newest executions, and from activities without a workflow.
 * @throws UnreadCallError
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
  const types = [...PAID].map((type) => JSON.stringify(type)).join(', ');
  for await (const found of standaloneActivities(client, namespace, `ActivityType IN (${types})`)) {
    const described = await describeStandalone(client, namespace, found);
    if (described !== undefined) yield* await standaloneCallsOf(client, taskQueue, described);
    looked += 1;
    if (isEnough(looked)) return;
  }
}
