import '../support/quiet-temporal';
import { ACTIVITY } from '../../src/domain/names';
import { type PollVideosInput, type PollVideosResult } from '../../src/domain/poll-answers';
import { createWorkers } from '../../src/worker/activity-workers';
import { connectTestServer, type TestServer } from '../support/temporal';
import { TEST_WORKFLOWS, testBundle } from '../support/test-bundle';
import { type LateWatch } from '../support/workflows/late-watch';

describe('PollLoop', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await connectTestServer();
  });
  afterAll(() => server.close());

  test('a group that first appears after the hand-over gives its watch back at once, to be carried over', async () => {
    const polled: string[] = [];
    const taskQueue = server.uniqueId('late-watch');
    const worker = await createWorkers({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue,
      workflowBundle: await testBundle(TEST_WORKFLOWS),
      activities: {
        [ACTIVITY.pollVideos]: ({ byModel }: PollVideosInput): PollVideosResult => {
          polled.push(...byModel.flatMap((batch) => batch.ids));
          return { answers: [] };
        },
      },
    });
    const result: unknown = await worker.runUntil(
      server.client.workflow.execute('watchAfterHandOver', {
        taskQueue,
        workflowId: server.uniqueId('late-watch'),
        workflowExecutionTimeout: '30s',
      }),
    );
    expect(result).toEqual<LateWatch>({ kinds: ['handover', 'handover'], carried: ['first', 'late'] });
    expect(polled).toEqual(['first']);
  });

  test.each([true, false])(
    'tasks that join a waiting group set its timer anew unless it keeps pace (%s)',
    async (keepsPace) => {
      const taskQueue = server.uniqueId('joining');
      const worker = await createWorkers({
        connection: server.nativeConnection,
        namespace: server.namespace,
        taskQueue,
        workflowBundle: await testBundle(TEST_WORKFLOWS),
        activities: {
          [ACTIVITY.pollVideos]: ({ byModel }: PollVideosInput): PollVideosResult => {
            const ids = byModel.flatMap((batch) => batch.ids);
            const record = { status: 'completed', phase: 'completed' } as const;
            return { answers: ids.map((_, index) => ({ index, digest: 'x', record })) };
          },
        },
      });
      const handle = await server.client.workflow.start('joiningWatches', {
        taskQueue,
        workflowId: server.uniqueId('joining'),
        workflowExecutionTimeout: '30s',
        args: [keepsPace],
      });
      expect(await worker.runUntil(handle.result())).toEqual(Array(4).fill('completed'));
      const { events } = await handle.fetchHistory();
      const cancelled = events?.filter(({ timerCanceledEventAttributes: timer }) => timer != null) ?? [];
      expect(cancelled.length > 0).toBe(!keepsPace);
    },
  );
});
