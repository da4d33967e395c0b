import { type Client } from '@temporalio/client';
import { type Connected } from './connect';
import { badInput } from './errors';
import { durationOf } from './paid-options';

const DAY_MS = 24 * 60 * 60_000;

/** How long the namespace keeps closed workflows, in milliseconds; one day if the server does not report it. */
export async function namespaceRetentionMs(client: Client): Promise<number> {
  const { config } = await client.workflowService.describeNamespace({ namespace: client.options.namespace });
  const seconds = config?.workflowExecutionRetentionTtl?.seconds;
  return seconds == null ? DAY_MS : Number(seconds) * 1000;
}

/**
 * Refuses to remove anything younger than the namespace's retention period.
 * @param because what would be lost, as the end of a sentence
 * @throws CliError
 */
export async function requireRetention(
  { client, namespace }: Connected,
  olderThanMs: number,
  because: string,
): Promise<void> {
  const retentionMs = await namespaceRetentionMs(client);
  if (olderThanMs >= retentionMs) return;
  const days = Math.ceil(retentionMs / DAY_MS);
  const message = `must be at least ${days}d: the namespace ${namespace} keeps closed workflows that long, ${because}`;
  throw badInput([{ field: OLDER_THAN, message }], 'Nothing was removed.');
}

export const OLDER_THAN = '--older-than';

/** The value of `--older-than`, in milliseconds. @throws CliError */
export function olderThanOf(text: string): number {
  const ms = durationOf(text);
  if (ms !== undefined) return ms;
  throw badInput([{ field: OLDER_THAN, message: 'must be a duration with its unit, such as 90d.' }]);
}
