import { join } from 'node:path';
import { activityQueues, bindingTaskQueue, mediaJournalWorkflowId } from '../../src/domain/names';
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

  it('both create queues belong to its journal: a worker with another one may serve neither', async () => {
    const other = { MEDIA_JOURNAL: join(stack.dataDir, 'journal-of-another-worker') };
    const { create } = activityQueues(stack.taskQueue);
    for (const env of [other, { ...other, MEDIA_TASK_QUEUE: create }])
      await expect(stack.startWorker({ env })).rejects.toBeInstanceOf(JournalBindingError);
    // The refused one has not taken the queue beyond that it asked for either.
    const handle = stack.server.client.workflow.getHandle(
      mediaJournalWorkflowId(activityQueues(create).create),
    );
    await expect(handle.describe()).rejects.toThrow();
  });

  it('a worker whose own queue is the create queue of another finds the ledger where it is answered', async () => {
    const { create } = activityQueues(stack.taskQueue);
    const ledger = stack.server.client.workflow.getHandle(mediaJournalWorkflowId(create));
    expect((await ledger.describe()).taskQueue).toBe(bindingTaskQueue(stack.taskQueue));
    const worker = await stack.startWorker({ env: { MEDIA_TASK_QUEUE: create } });
    await worker.stop();
  });

  it('and the other way round', async () => {
    const base = stack.server.uniqueId('media');
    const env = (taskQueue: string) => ({ env: { MEDIA_TASK_QUEUE: taskQueue } });
    await (await stack.startWorker(env(activityQueues(base).create))).stop();
    await (await stack.startWorker(env(base))).stop();
    const ledger = stack.server.client.workflow.getHandle(
      mediaJournalWorkflowId(activityQueues(base).create),
    );
    expect((await ledger.describe()).taskQueue).toBe(bindingTaskQueue(activityQueues(base).create));
  });
});
