import { NO_METRICS } from '../../src/domain/metrics';
import { videoTaskById } from '../../src/domain/video-task';
import { type WatcherFacts, watchersOf } from '../../src/domain/shared-watch';
import { beginWatch } from '../../src/domain/watch-state';
import { joinWatcher } from '../../src/watchers/join-watcher';
import { WatchRecovery } from '../../src/watchers/watch-recovery';
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
