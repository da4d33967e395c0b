import { joinWatcher, WatchRecovery } from '../../src/activities/watchers';
import { NO_METRICS } from '../../src/domain/metrics';
import { videoTaskById } from '../../src/domain/video-task';
import { beginWatch } from '../../src/domain/watch-state';
import { type WatcherFacts, watchersOf } from '../../src/domain/watcher';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

/** No video has joined here: the recovery of the worker has ended with the start of it. */
describe('the recovery of watchers', () => {
  const stack = sharedStack({});
  const recovery = new WatchRecovery(NO_METRICS, 100);
  afterAll(() => recovery.close());

  it('finds a watcher that visibility does not show yet when its video joins', async () => {
    const { server, taskQueue } = await stack();
    const { client } = server;
    const looks = jest.spyOn(client.workflowService, 'listWorkflowExecutions');
    recovery.begin(client, taskQueue);
    await eventually(
      'a look that finds nothing',
      async () => (await looks.mock.results[0]?.value) !== undefined,
    );

    const video = videoTaskById('task-1', 'default@00000000');
    const now = Date.now();
    // Never polled: the next poll is as late as the deadline.
    const late = { now, firstPollAt: now + 600_000, deadlineAt: now + 600_000 };
    const waiter = { workflowId: server.uniqueId('nobody'), runId: 'run', activityId: '1' };
    const [watcher] = watchersOf(video, { taskQueue, pollQueue: `${taskQueue}/poll` }) as [WatcherFacts];
    await joinWatcher(client, watcher, [{ waiter, state: beginWatch({ video, ...late }) }]);
    const handle = client.workflow.getHandle(watcher.workflowId);
    const { runId } = await handle.describe();
    await eventually('the first workflow task', async () => (await handle.describe()).historyLength > 4);
    await handle.terminate('by an operator');
    await eventually('another run', async () => (await handle.describe()).runId !== runId, 90_000);
    await handle.terminate('the test is over');
  });
});

/** Processes that serve polls. A server answers 10 lists a second unless it is configured otherwise. */
const PROCESSES = 30;
/** Pause of a process that is alone, in milliseconds. */
const EVERY_MS = 300;

describe('the recovery of watchers in many processes', () => {
  const stack = sharedStack({}, () => Promise.resolve());
  const recoveries = Array.from({ length: PROCESSES }, () => new WatchRecovery(NO_METRICS, EVERY_MS));
  afterAll(() => recoveries.forEach((recovery) => recovery.close()));

  it('lists together about as often as three processes, however many there are', async () => {
    const { server, taskQueue } = await stack();
    const { client, namespace } = server;
    const looks = jest.spyOn(client.workflowService, 'listWorkflowExecutions');
    const taskQueueOfPolls = { name: `${taskQueue}/poll` };
    // A worker process polls with several requests, which a server spreads over the partitions of the queue.
    const leaving = new AbortController();
    const poll = (identity: string) =>
      client.withAbortSignal(leaving.signal, () =>
        client.withDeadline(Date.now() + 90_000, () =>
          client.workflowService.pollActivityTaskQueue({ namespace, taskQueue: taskQueueOfPolls, identity }),
        ),
      );
    const polls = Promise.allSettled(
      recoveries.flatMap((_, place) => Array.from({ length: 5 }, () => poll(`${place}@host`))),
    );
    await eventually('most of the pollers', async () => {
      const described = { namespace, taskQueue: taskQueueOfPolls, taskQueueType: 2 } as const;
      const { pollers } = await client.workflowService.describeTaskQueue(described);
      return pollers.length >= PROCESSES / 2;
    });
    const began = performance.now();
    for (const recovery of recoveries)
      for (let video = 0; video < 10; video++) recovery.begin(client, taskQueue);
    await eventually('several looks of the processes', () =>
      Promise.resolve(looks.mock.calls.length >= PROCESSES),
    );
    const pauses = (performance.now() - began) / EVERY_MS;
    // One look of each process in every pause, without regard for the others, would be 30. Some are not seen by the server.
    expect(looks.mock.calls.length / pauses).toBeLessThan(10);
    leaving.abort();
    await polls;
  });
});
