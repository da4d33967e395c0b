import { type Client } from '@temporalio/client';
import { type CallWait } from '../domain/call-wait';
import { QUERY } from '../domain/names';

/** What the paid calls of a workflow wait for before they are sent. Rejects when no worker answers in time. */
export function callWaits(client: Client, workflowId: string, limitMs: number): Promise<readonly CallWait[]> {
  return client.withDeadline(Date.now() + limitMs, () =>
    client.workflow.getHandle(workflowId).query<readonly CallWait[]>(QUERY.waits),
  );
}
