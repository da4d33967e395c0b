import { type Client } from '@temporalio/client';
import { type Connected } from './connect';
import { badInput } from './errors';
import { durationOf } from './paid-options';

const DAY_MS = 24 * 60 * 60_000;

/** Returns how long the namespace keeps closed workflows, in milliseconds. One day if the server does not report it. */
export async function namespaceRetentionMs(client: Client): Promise<number> {
  const { config } = await client.workflowService.describeNamespace({ namespace: client.options.namespace });
  const seconds = config?.workflowExecutionRetentionTtl?.seconds;
  return seconds == null ? DAY_MS : Number(seconds) * 1000;
}

/**
 * Rejects a minimum age that is shorter than the namespace's retention period.
 * @param because the end of a sentence that says what would be lost
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
  const message = `must be at least ${days}d, because namespace ${namespace} keeps closed workflows that long, ${because}`;
  throw badInput([{ field: OLDER_THAN, message }], 'Nothing was removed.');
}

export const OLDER_THAN = '--older-than';

/** Converts the value of `--older-than` to milliseconds. @throws CliError */
export function olderThanOf(text: string): number {
  const ms = durationOf(text);
  if (ms !== undefined) return ms;
  throw badInput([{ field: OLDER_THAN, message: 'must be a duration with a unit, such as 90d.' }]);
}
