import { type VideoOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { type VideoTask } from '../../src/domain/video-task';
import { sharedStack } from '../support/shared-stack';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process';

/** C8.2: however many workflows wait for one task, and on however many workers. */
describe('workflows that wait for one task', () => {
  const RUNS_MS = 40_000;
  let second: WorkerProcess | undefined;
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: RUNS_MS } } }, async (started) => {
    await started.startWorker();
    second = await startWorkerProcess(started, require.resolve('../support/second-worker.js'), {
      MEDIA_TASK_QUEUE: started.taskQueue,
      MEDIA_DATA_DIR: started.dataDir,
    });
  });

  afterAll(async () => {
    second?.signal('SIGKILL');
    await second?.gone;
  });

  it('[C8.2] poll it together no faster than one of them would', async () => {
    const media = await stack();
    const { client } = media.server;
    const request = { model: 'cine-1', prompt: 'awaited by eight', durationSeconds: 2 };
    const since = Date.now();
    const owner = await media.media.startVideo(
      { request, waitFor: '1s' },
      { id: media.server.uniqueId('owner') },
    );
    const left = await owner.result();
    if (left.outcome !== 'still_running') throw new Error(left.outcome);
    const video: VideoTask = left.video;
    const polls = async () =>
      (await media.sandbox.admin.requests({ operation: 'poll' })).filter(
        ({ taskId }) => taskId === video.taskId,
      );
    const before = (await polls()).length;
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        client.workflow.execute<(input: object) => Promise<VideoOutcome>>(WORKFLOW.awaitVideo, {
          taskQueue: media.taskQueue,
          workflowId: media.server.uniqueId('wait'),
          args: [{ video }],
        }),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => 'completed'));
    // A download reads the record as well; none begins while the task runs.
    const times = (await polls())
      .slice(before)
      .flatMap(({ at }) => (at < since + RUNS_MS - 3_000 ? [at] : []));
    const gaps = times.slice(1).map((at, index) => at - (times[index] as number));
    expect(times.length).toBeGreaterThan(3);
    // On a loaded machine a request comes later than its tick, and the next one in time. Eight waits of their own made
    // it 1.05 s.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2_000);
    expect((await media.sandbox.admin.counters()).creates.accepted).toBe(1);
  });
});
