import {
  cancelledVideo,
  completedImage,
  completedVideo,
  contentUnavailable,
  failedVideo,
  mockMediaActivities,
  type MockMediaOptions,
  rejectedVideo,
  stillRunningVideo,
  unconfirmedVideo,
} from '../../../packages/testing/src';
import { type VideoOutcome } from '../../../src/domain';
import { createWorkers, type MediaWorkers } from '../../../src/worker';
import '../../support/quiet-temporal';
import { connectTestServer, type TestServer } from '../../support/temporal';
import { testBundle } from '../../support/test-bundle';

/** A service that is polled at once and often: the real workflows wait as long as a task's cadence says. */
const video = { polling: { minSeconds: 0.05, maxSeconds: 0.1, firstPollSeconds: 0 } } as const;
const cadence = { video: { ...completedVideo().video, ...video } };
const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 5 };

describe('the real workflows on mocked activities', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await connectTestServer();
  });
  afterAll(() => server.close());

  /** A worker of the package's workflows while `body` runs. */
  async function withMocks<T>(
    options: MockMediaOptions,
    body: (buy: (key: string, waitFor?: string) => Promise<VideoOutcome>, taskQueue: string) => Promise<T>,
  ): Promise<T> {
    const taskQueue = server.uniqueId('mocks');
    const workers: MediaWorkers = await createWorkers({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue,
      workflowBundle: await testBundle(),
      activities: mockMediaActivities(options),
    });
    const buy = (creationKey: string, waitFor = '15m') =>
      server.client.workflow.execute<(input: object) => Promise<VideoOutcome>>('generateVideo', {
        taskQueue,
        workflowId: server.uniqueId('mocked'),
        args: [{ request, creationKey, waitFor }],
      });
    return workers.runUntil(() => body(buy, taskQueue));
  }

  const ends: readonly VideoOutcome[] = [
    completedVideo(cadence),
    failedVideo({ ...cadence, error: { kind: 'capacity' } }),
    contentUnavailable(cadence),
    unconfirmedVideo(),
    rejectedVideo(),
    stillRunningVideo(cadence),
  ];

  test('end as the test says, with the money and the messages of the outcome', async () => {
    // One key each: a function answers by what is asked.
    const given: MockMediaOptions['video'] = ({ creationKey }) => ends[Number(creationKey)] as VideoOutcome;
    await withMocks({ video: given, polls: 2 }, async (buy) => {
      const got = await Promise.all(
        ends.map((_, index) => buy(String(index), index === 5 ? '200ms' : '15m')),
      );
      expect(got.map(({ outcome }) => outcome)).toEqual(ends.map(({ outcome }) => outcome));
      for (const [index, outcome] of got.entries()) {
        expect(outcome.billing).toEqual(ends[index]?.billing);
        if ('message' in outcome)
          expect(outcome).toMatchObject({ message: (ends[index] as { message: string }).message });
      }
      expect(got[0]).toMatchObject({ artifact: completedVideo().artifact, watch: { polls: 2 } });
      expect(got[1]).toMatchObject({ retryable: true });
      // Tasks of one id would be one task.
      const ids = got.flatMap((outcome) => ('video' in outcome ? [outcome.video?.taskId] : []));
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  test('one key buys one video, whoever asks and how often; a test counts what was bought', async () => {
    const bought = jest.fn(() => completedVideo(cadence));
    await withMocks({ video: bought }, async (buy) => {
      const [first, second, other] = await Promise.all([buy('a'), buy('a'), buy('b')]);
      expect(second).toEqual({ ...first, watch: expect.anything() as unknown });
      expect((other as { video: object }).video).not.toEqual((first as { video: object }).video);
      expect(bought).toHaveBeenCalledTimes(2);
    });
  });

  test('a cancelled workflow that asks what is recorded gets what was bought, and buys nothing', async () => {
    const bought = jest.fn(() => completedVideo());
    const { 'media.createVideo': create, 'media.reconcileCreate': reconcile } = mockMediaActivities({
      video: bought,
    });
    const look = () => create({ creationKey: 'a', request, recordedOnly: true });
    expect(await look()).toMatchObject({ outcome: 'not_sent', cause: 'not_recorded' });
    // Cancelled before it began: nothing was bought, and the workflow says so.
    const trace = { sender: 's', announced: null, scheduledAt: new Date(0).toISOString() };
    const facts = { model: 'm', durationSeconds: null, resolution: null, referenceMode: 'none' } as const;
    expect(await reconcile({ creationKey: 'a', trace, facts })).toMatchObject({ outcome: 'not_sent' });
    expect(bought).not.toHaveBeenCalled();
    const made = await create({ creationKey: 'a', request });
    expect(await look()).toEqual(made);
    expect(bought).toHaveBeenCalledTimes(1);
  });

  test('a function that throws: the fate is unknown, and it is not asked again', async () => {
    const throws = jest.fn((): VideoOutcome => {
      throw new Error('not that one');
    });
    await withMocks({ video: throws }, async (buy) => {
      expect(await buy('a')).toMatchObject({ outcome: 'unconfirmed', creationKey: 'a' });
      expect(throws).toHaveBeenCalledTimes(1);
    });
  });

  test('a task is awaited by its id; a cancelled one ends when its workflow is cancelled; images', async () => {
    const given: MockMediaOptions['video'] = ({ taskId }) =>
      taskId === null ? cancelledVideo(cadence) : completedVideo(cadence);
    await withMocks({ video: given }, async (_buy, taskQueue) => {
      const { workflow } = server.client;
      const start = (type: string, input: object) =>
        workflow.start(type, { taskQueue, workflowId: server.uniqueId(type), args: [input] });
      const awaited = await start('awaitVideo', { video: { taskId: 'task-7' } });
      expect(await awaited.result()).toMatchObject({ outcome: 'completed', video: { taskId: 'task-7' } });
      const bought = await start('generateVideo', { request, creationKey: 'c' });
      await bought.cancel();
      expect(await bought.result()).toMatchObject({ outcome: 'cancelled' });
      const image = await start('generateImage', { request: { model: 'image-2', prompt: 'a map' } });
      expect(await image.result()).toEqual(completedImage());
    });
  });
});
