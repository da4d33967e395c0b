import { type Connection } from '@temporalio/client';
import { type Check, failed, type Finding, ok } from './check';
import { errorType } from '../error-types';

const CALL_MS = 3_000;
/** `TaskQueueType` of the Temporal API. */
const QUEUES = [
  ['workflows', 1],
  ['activities', 2],
] as const;
/** A poll is renewed after at most a minute; the server lists one that is gone for five. */
const STALE_MS = 90_000;

/** When each worker polled last, in milliseconds since the epoch. */
export interface QueuePollers {
  readonly workflows: readonly number[];
  readonly activities: readonly number[];
}

/** Whether a worker asks the task queue for workflows and for activities. */
export const workers: Check = {
  name: 'workers',
  title: 'Workers',
  after: ['namespace'],
  limitMs: CALL_MS + 500,
  late: 'temporal_unreachable',
  run: async ({ target, dev, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace, taskQueue } = target;
    const [workflows, activities] = await Promise.all(
      QUEUES.map(([, type]) => lastPolls(connection, namespace, taskQueue, type)),
    );
    const finding = judgePollers(
      { workflows: workflows ?? [], activities: activities ?? [] },
      taskQueue,
      Date.now(),
    );
    if (finding.state !== 'failed' || dev === undefined || dev.taskQueue === taskQueue) return finding;
    const remedy = `${finding.remedy} The \`dev\` of this data directory serves "${dev.taskQueue}".`;
    return { ...finding, remedy };
  },
};

async function lastPolls(
  connection: Connection,
  namespace: string,
  name: string,
  taskQueueType: number,
): Promise<readonly number[]> {
  const { pollers } = await connection.withDeadline(Date.now() + CALL_MS, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType }),
  );
  return (pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000);
}

/** @param now milliseconds since the epoch; a clock that is behind the server's counts as just now */
export function judgePollers(pollers: QueuePollers, taskQueue: string, now: number): Finding {
  const missing = QUEUES.map(([kind]) => kind).filter((kind) => pollers[kind].length === 0);
  if (missing.length === QUEUES.length)
    return failed('no_worker', `No worker polls the task queue "${taskQueue}".`);
  if (missing.length > 0) {
    const message = `No worker polls the task queue "${taskQueue}" for ${missing[0]}.`;
    return failed('no_worker', message);
  }
  const age = Math.max(...QUEUES.map(([kind]) => now - Math.max(...pollers[kind])));
  if (age > STALE_MS) {
    const message = `The last poll of the task queue "${taskQueue}" was ${Math.round(age / 1_000)} s ago: its worker is gone, or has no free slot.`;
    return failed('no_worker', message, `${errorType('no_worker').hint} A worker that is busy needs time.`);
  }
  const count = Math.min(...QUEUES.map(([kind]) => pollers[kind].length));
  return ok(`${count} ${count === 1 ? 'worker polls' : 'workers poll'} the task queue "${taskQueue}"`);
}
