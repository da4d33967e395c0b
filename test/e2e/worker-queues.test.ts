import { join } from 'node:path';
import { type ImageOutcome, type VideoOutcome } from '../../src/domain';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { ACTIVITY, activityQueues, WORKFLOW } from '../../src/domain/names';
import { JournalBindingError } from '../../src/worker';
import { accepted } from '../support/accepted';
import { storedManifest } from '../support/campaign';
import { startMediaStack, type MediaStack } from '../support/media-stack';
import { placesOf } from '../support/places';

/** A worker serves an activity queue of each kind beside its own, all bound to its journal (architecture: Create and 4.11). */
describe('the queues of a worker', () => {
  let stack: MediaStack;

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  });
  afterAll(() => stack.stop());

  const places = (workflowId: string) => placesOf(stack.server.client, workflowId);

  it('run the activities of every workflow, whoever starts it, and end all together', async () => {
    const queues = activityQueues(stack.taskQueue);
    const worker = await stack.startWorker();
    expect(worker.media.queues).toEqual([stack.taskQueue, ...Object.values(queues)]);
    const { create, poll, download, image } = queues;
    const video = await stack.media.startVideo({
      request: { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 },
    });
    const outcome = (await video.result()) as Extract<VideoOutcome, { outcome: 'completed' }>;
    expect(outcome.outcome).toBe('completed');
    const watched = [`${ACTIVITY.pollVideos} on ${poll}`, `${ACTIVITY.downloadVideo} on ${download}`];
    expect(await places(video.workflowId)).toEqual([`${ACTIVITY.createVideo} on ${create}`, ...watched]);

    const again = stack.server.uniqueId('again');
    const awaited: unknown = await stack.server.client.workflow.execute(WORKFLOW.awaitVideo, {
      taskQueue: stack.taskQueue,
      workflowId: again,
      args: [{ video: { taskId: outcome.video.taskId }, polling: 'own' }],
    });
    expect(awaited).toMatchObject({ outcome: 'completed' });
    expect(await places(again)).toEqual([`${ACTIVITY.findVideoTask} on ${poll}`, ...watched]);

    const drawn = await stack.media.images.start(
      { request: { model: 'image-2', prompt: 'a kite' } },
      { as: 'workflow' },
    );
    const made = (await drawn.result()) as Extract<ImageOutcome, { outcome: 'completed' }>;
    expect(made.outcome).toBe('completed');
    expect(await places(drawn.workflowId)).toEqual([`${ACTIVITY.generateImage} on ${image}`]);
    const edited = await stack.media.images.start(
      { request: { model: 'image-2', prompt: 'a red kite', images: [{ artifact: made.images[0]! }] } },
      { as: 'workflow' },
    );
    expect(await edited.result()).toMatchObject({ outcome: 'completed' });
    expect(await places(edited.workflowId)).toEqual([`${ACTIVITY.editImage} on ${image}`]);
    await worker.stop();
    expect(worker.media.worker.getState()).toBe('STOPPED');
  });

  it('are others where a workflow names them, one by one', async () => {
    const nobody = stack.server.uniqueId('nobody');
    const worker = await stack.startWorker();
    const workflowId = stack.server.uniqueId('named');
    const outcome: unknown = await stack.server.client.workflow.execute(WORKFLOW.generateImage, {
      taskQueue: stack.taskQueue,
      workflowId,
      args: [
        { request: { model: 'image-2', prompt: 'a kite' }, queues: { image: nobody }, startLimit: '1s' },
      ],
    });
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'not_sent', billing: { state: 'none' } });
    expect((outcome as { message: string }).message).toContain(`"${nobody}"`);
    await worker.stop();
  });

  it('under a cap each create of a campaign is an activity of its own, for the server to count', async () => {
    const worker = await stack.startWorker({ env: { MEDIA_CREATES_PER_SECOND: '5' } });
    const rows = [1, 2, 3, 4].map((n) => ({
      id: `${n}`,
      model: 'cine-1',
      prompt: `capped ${n}`,
      duration: 2,
    }));
    const workflowId = stack.server.uniqueId('capped');
    const result: unknown = await stack.server.client.workflow.execute(WORKFLOW.runCampaign, {
      taskQueue: stack.taskQueue,
      workflowId,
      args: [{ manifest: await storedManifest(stack, rows) }],
    });
    expect(result).toMatchObject({ outcome: 'completed', plan: { createsPerSecond: 5 } });
    const { events } = await stack.server.client.workflow
      .getHandle(batchWorkflowId(workflowId, 0))
      .fetchHistory();
    const creates = (events ?? []).flatMap((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      return scheduled?.activityType?.name === ACTIVITY.createVideos ? [scheduled.taskQueue?.name] : [];
    });
    expect(creates).toEqual(rows.map(() => activityQueues(stack.taskQueue).create));
    for (const { prompt } of rows) expect(await accepted(stack, prompt)).toBe(1);
    await worker.stop();
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
