import { mockMediaActivities, stillRunningVideo } from '@temporal-media/testing';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { type VideoOutcome } from 'temporal-media';
import { createWorkers } from 'temporal-media/worker';

test('fifteen minutes of polls pass in seconds', async () => {
  const server = await TestWorkflowEnvironment.createTimeSkipping();
  try {
    const taskQueue = 'films';
    // The real workflows call activities on their own task queues, which `createWorkers` also polls.
    const workers = await createWorkers({
      ...{ connection: server.nativeConnection, taskQueue },
      workflowsPath: require.resolve('temporal-media/workflows'),
      activities: mockMediaActivities({ video: stillRunningVideo() }),
    });
    const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 };
    const outcome = await workers.runUntil(
      server.client.workflow.execute<(input: object) => Promise<VideoOutcome>>('generateVideo', {
        ...{ taskQueue, workflowId: 'film' },
        args: [{ request, creationKey: 'film', waitFor: '15m' }],
      }),
    );
    expect(outcome).toMatchObject({ outcome: 'still_running', video: { taskId: 'task-1' } });
    const { polls } = outcome as { polls: number };
    expect(polls).toBeGreaterThan(100);
  } finally {
    await server.teardown();
  }
});
