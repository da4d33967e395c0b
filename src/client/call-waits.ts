import { type Client } from '@temporalio/client';
import { type CallWait } from '../domain/call-wait';
import { QUERY } from '../domain/names';

/** What a workflow that buys waits for before it sends anything. Rejects when no worker answers in time. */
export function callWaits(client: Client, workflowId: string, limitMs: number): Promise<readonly CallWait[]> {
  return client.withDeadline(Date.now() + limitMs, () =>
    client.workflow.getHandle(workflowId).query<readonly CallWait[]>(QUERY.waits),
  );
}
