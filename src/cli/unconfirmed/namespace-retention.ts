import { type Client } from '@temporalio/client';

const DAY_MS = 24 * 60 * 60_000;

/** How long the namespace keeps closed workflows, in milliseconds; a server that does not say so keeps them a day. */
export async function namespaceRetentionMs(client: Client): Promise<number> {
  const { config } = await client.workflowService.describeNamespace({ namespace: client.options.namespace });
  const seconds = config?.workflowExecutionRetentionTtl?.seconds;
  return seconds == null ? DAY_MS : Number(seconds) * 1000;
}
