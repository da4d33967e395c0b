import { activityQueues } from '../../domain/names';
import { type Check, failed, type Finding, ok } from './check';
import { errorType } from '../error-types';
import { type PollerKind, pollsForNewWork, type QueueView, STALE_POLL_MS, viewQueue } from '../queue-pollers';
import { judgeVersions } from './worker-versions';

const CALL_MS = 3_000;
const KINDS: readonly PollerKind[] = ['workflows', 'activities'];

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
    const look = (queue: string, kind: PollerKind) => viewQueue(connection, namespace, queue, kind, CALL_MS);
    const queues = Object.values(activityQueues(taskQueue));
    // All at once: one look after another would outlast the limit of the check.
    const [workflows, activities, ...others] = await Promise.all([
      ...KINDS.map((kind) => look(taskQueue, kind)),
      ...queues.map((queue) => look(queue, 'activities')),
    ]);
    const now = Date.now();
    for (const view of [workflows, activities]) {
      const idle = view && judgeVersions(view, taskQueue, now);
      if (idle !== undefined) return idle;
    }
    const pollers = { workflows: pollsOf(workflows), activities: pollsOf(activities) };
    const finding = judgePollers(pollers, taskQueue, now);
    if (finding.state === 'ok') {
      const served = queues.map((queue, place) => [queue, pollsOf(others[place])] as const);
      return judgeActivityQueues(finding, served, now);
    }
    if (finding.state !== 'failed' || dev === undefined || dev.taskQueue === taskQueue) return finding;
    const remedy = `${finding.remedy} The \`dev\` of this data directory serves "${dev.taskQueue}".`;
    return { ...finding, remedy };
  },
};

const pollsOf = (view: QueueView | undefined): readonly number[] =>
  view === undefined ? [] : pollsForNewWork(view);

/** Creates, polls, downloads and images run on queues of their own; a worker that was made by hand may not serve them. */
export function judgeActivityQueues(
  served: Finding,
  queues: readonly (readonly [queue: string, polls: readonly number[]])[],
  now: number,
): Finding {
  const unserved = queues.filter(([, polls]) => polls.every((at) => now - at > STALE_POLL_MS));
  if (unserved.length === 0) return served;
  const names = unserved.map(([queue]) => queue).join(', ');
  return failed(
    'no_worker',
    `${served.message}, but none polls ${names}: what runs there would wait.`,
    'Serve them with `temporal-media worker` or createMediaWorker; workers that are put together by hand are made by createWorkers.',
  );
}

/** @param now milliseconds since the epoch; a clock that is behind the server's counts as just now */
export function judgePollers(pollers: QueuePollers, taskQueue: string, now: number): Finding {
  const missing = KINDS.filter((kind) => pollers[kind].length === 0);
  if (missing.length === KINDS.length)
    return failed('no_worker', `No worker polls the task queue "${taskQueue}".`);
  if (missing.length > 0) {
    const message = `No worker polls the task queue "${taskQueue}" for ${missing[0]}.`;
    return failed('no_worker', message);
  }
  const age = Math.max(...KINDS.map((kind) => now - Math.max(...pollers[kind])));
  if (age > STALE_POLL_MS) {
    const message = `The last poll of the task queue "${taskQueue}" was ${Math.round(age / 1_000)} s ago: its worker is gone, or has no free slot.`;
    return failed('no_worker', message, `${errorType('no_worker').hint} A worker that is busy needs time.`);
  }
  const count = Math.min(...KINDS.map((kind) => pollers[kind].length));
  return ok(`${count} ${count === 1 ? 'worker polls' : 'workers poll'} the task queue "${taskQueue}"`);
}
