import { type Connection } from '@temporalio/client';

/** `TaskQueueType` of the Temporal API. */
const TYPES = { workflows: 1, activities: 2 } as const;
export type PollerKind = keyof typeof TYPES;

/** A poll is renewed after at most a minute; the server lists one that is gone for five. */
export const STALE_POLL_MS = 90_000;

/** When each worker last polled a task queue, in milliseconds since the epoch. @throws when the server does not answer in `limitMs` */
export async function lastPolls(
  connection: Connection,
  namespace: string,
  taskQueue: string,
  kind: PollerKind,
  limitMs: number,
): Promise<readonly number[]> {
  const { pollers } = await connection.withDeadline(Date.now() + limitMs, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: TYPES[kind],
    }),
  );
  return (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000);
}
