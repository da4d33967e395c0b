import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type NoticesOptions, type NotifyEndpoint, startNotices } from '../../../packages/notices/src';
import { noticesQueue } from '../../../packages/notices/src/notice';
import { type MediaStack } from '../../support/media-stack';
import { type Receiver, SECRET } from './receiver';

/** Short enough for tests, long enough to be seen. */
export const FAST = { everyMs: 300, pauses: { first: 200, longest: 1_000 } } as const;

/** Writes the secret, and returns the endpoint of a receiver. */
export async function endpointOf(
  { dataDir }: Pick<MediaStack, 'dataDir'>,
  { url }: Pick<Receiver, 'url'>,
  events?: NotifyEndpoint['events'],
): Promise<NotifyEndpoint> {
  const secretFile = path.join(dataDir, 'notices.secret');
  await writeFile(secretFile, `${SECRET}\n`, { mode: 0o600 });
  return { url, secretFile, allowPrivate: true, ...(events !== undefined && { events }) };
}

export interface TestNotices {
  stop(): Promise<void>;
}

/** Notices of a stack. They stop with the last of them, and so does their collector. */
export async function startTestNotices(
  stack: MediaStack,
  receiver: Pick<Receiver, 'url'>,
  options: NoticesOptions & { readonly events?: NotifyEndpoint['events'] } = {},
): Promise<TestNotices> {
  const { server, config } = stack;
  const { events, ...others } = options;
  return startNotices({
    ...{ endpoints: [await endpointOf(stack, receiver, events)], config, env: {}, ...FAST },
    ...{ connection: server.nativeConnection, namespace: server.namespace },
    ...others,
  });
}

/** Ends the collector and what receivers have not taken: nothing runs on after a test. */
export async function endNotices({
  server,
  taskQueue,
}: Pick<MediaStack, 'server' | 'taskQueue'>): Promise<void> {
  const { workflow } = server.client;
  const query = `TaskQueue = '${noticesQueue(taskQueue)}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of workflow.list({ query }))
    await workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
}
