import '../support/quiet-temporal';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type PollVideosInput, type PollVideosResult, seenOf } from '../../src/domain/poll-answers';
import { createWorkers, type MediaWorkers } from '../../src/worker/activity-workers';
import { connectTestServer, type TestServer } from '../support/temporal';
import { type ManyWatchesInput } from './many-watches';

/** Bytes of input and result per task and poll (architecture: Wait). */
const BUDGET = 48;
const ID_LENGTH = 32;
const FIGURES = join(__dirname, '..', '..', 'docs', 'figures.md');
const POLLING = { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 1 };

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 8);

/** Answers as the real activity does when nothing changes after the first record. */
async function pollVideos({ byModel }: PollVideosInput): Promise<PollVideosResult> {
  const tasks = byModel.flatMap((batch) => {
    const seen = seenOf(batch);
    return batch.ids.map((id, place) => ({ id, seen: seen[place] }));
  });
  return {
    answers: tasks.flatMap(({ id, seen }, index) =>
      seen === digest(id)
        ? []
        : [{ index, digest: digest(id), record: { status: 'in_progress', phase: 'in_progress' } as const }],
    ),
  };
}

describe('the bytes of polling', () => {
  let server: TestServer;
  let worker: MediaWorkers;
  let running: Promise<void>;
  let taskQueue: string;

  beforeAll(async () => {
    server = await connectTestServer();
    taskQueue = server.uniqueId('budget');
    worker = await createWorkers({
      connection: server.nativeConnection,
      namespace: server.namespace,
      taskQueue,
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: require.resolve('./many-watches'),
        logger: new DefaultLogger('ERROR'),
      }),
      activities: { 'media.pollVideos': pollVideos },
    });
    running = worker.run();
  });
  afterAll(async () => {
    worker.shutdown();
    await running;
    await server.close();
  });

  /** Payload bytes per task-poll of each tick. */
  async function bytesPerTick(tasks: number, waitMs: number): Promise<number[]> {
    const taskIds = Array.from({ length: tasks }, (_, index) => `video_${index}`.padEnd(ID_LENGTH, 'x'));
    const handle = await server.client.workflow.start('manyWatches', {
      taskQueue,
      workflowId: server.uniqueId('many'),
      args: [{ taskIds, polling: POLLING, waitMs } satisfies ManyWatchesInput],
    });
    const polls = (await handle.result()) as number[];
    const { events } = await handle.fetchHistory();
    const size = (payloads: readonly { data?: Uint8Array | null }[] | null | undefined): number =>
      (payloads ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    const inputs = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled ? [size(scheduled.input?.payloads)] : [],
    );
    const results = (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed }) =>
      completed ? [size(completed.result?.payloads)] : [],
    );
    // One activity per tick serves every task.
    expect(polls).toEqual(Array(tasks).fill(inputs.length));
    expect(results).toHaveLength(inputs.length);
    return inputs.map((input, tick) => (input + (results[tick] ?? 0)) / tasks);
  }

  it(`one poll of one of 500 tasks with ids of ${ID_LENGTH} characters costs at most ${BUDGET} bytes once its record is known`, async () => {
    const [, ...steady] = await bytesPerTick(500, 12_000);
    expect(steady.length).toBeGreaterThanOrEqual(2);
    for (const bytes of steady) expect(bytes).toBeLessThanOrEqual(BUDGET);
    report('loop of 500', Math.max(...steady).toFixed(1));
  });

  it('a loop of one is reported', async () => {
    const [, ...steady] = await bytesPerTick(1, 8000);
    // No budget: the frame of the input is paid by one task alone. Doubling it would be a mistake all the same.
    for (const bytes of steady) expect(bytes).toBeLessThanOrEqual(256);
    report('loop of one', String(Math.max(...steady)));
  });
});

/** A figure for the reader of the test's output; docs/figures.md tells the same. */
function report(loop: string, bytes: string): void {
  process.stderr.write(`${loop}: ${bytes} bytes per task-poll\n`);
  expect(readFileSync(FIGURES, 'utf8')).toMatch(new RegExp(`${loop} *\\| ${bytes} `));
}
