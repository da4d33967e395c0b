import { join } from 'node:path';
import { activityQueues } from '../../src/domain/names';
import { JournalBindingError } from '../../src/worker';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** A worker serves an activity queue of each kind beside its own, all bound to its journal (design 4.3 and 4.11). */
describe('the queues of a worker', () => {
  let stack: MediaStack;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  it('runs the activities of a workflow on the queues that it names, and ends all together', async () => {
    const queues = activityQueues(stack.taskQueue);
    const worker = await stack.startWorker();
    expect(worker.media.queues).toEqual([stack.taskQueue, ...Object.values(queues)]);
    const { create, poll, download } = queues;
    const started = await stack.media.startVideo({
      request: { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 },
      queues: { create, poll, download },
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    const { events } = await stack.server.client.workflow.getHandle(started.workflowId).fetchHistory();
    const used = (events ?? []).flatMap((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      return scheduled ? [`${scheduled.activityType?.name} on ${scheduled.taskQueue?.name}`] : [];
    });
    expect([...new Set(used)]).toEqual([
      `media.createVideo on ${create}`,
      `media.pollVideos on ${poll}`,
      `media.downloadVideo on ${download}`,
    ]);
    await worker.stop();
    expect(worker.media.worker.getState()).toBe('STOPPED');
  });

  it('all belong to its journal: a worker with another one may serve none of them, by whatever name', async () => {
    const other = { MEDIA_JOURNAL: join(stack.dataDir, 'journal-of-another-worker') };
    const { create } = activityQueues(stack.taskQueue);
    for (const env of [other, { ...other, MEDIA_TASK_QUEUE: create }])
      await expect(stack.startWorker({ env })).rejects.toBeInstanceOf(JournalBindingError);
    const same = await stack.startWorker({ env: { MEDIA_TASK_QUEUE: create } });
    await same.stop();
  });
});
