import { join } from 'node:path';
import { createS3Records } from '../../packages/store-s3/src';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { TemporalMediaClient } from '../../src/client';
import { type VideoOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { createJournal } from '../../src/stores/journal/create-journal';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process';
import { type Fault, type FaultProxy, startFaultProxy } from './support/fault-proxy';
import { clientOf, describeWithS3, newBucket } from './support/s3';

/** Whoever waits for a sender to be certainly done waits for seconds. */
const WORKER = join(__dirname, '..', 'proof', 'campaign-kills', 'killed-worker.js');
const MAX_WAIT_MS = 120_000;

/**
 * Two workers of one queue on one bucket, each with a folder of its own; the network between the first one and the bucket
 * is cut or ill (C4.4a: at most one accepted, whatever happens to the record of it).
 */
describeWithS3()('a worker whose way to its stores is broken', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let stack: MediaStack;
  let workers: WorkerProcess[] = [];
  let place: { MEDIA_JOURNAL: string; MEDIA_ARTIFACTS: string; MEDIA_TASK_QUEUE: string };
  let media: TemporalMediaClient;
  let bucket: string;

  beforeAll(async () => {
    server = await startS3();
    proxy = await startFaultProxy(server.endpoint);
    stack = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });
  }, MAX_WAIT_MS);
  afterAll(async () => {
    await stack?.stop();
    await proxy?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    proxy.rule = () => null;
    bucket = await newBucket(server);
    const taskQueue = stack.server.uniqueId('cut');
    place = {
      MEDIA_JOURNAL: `s3://${bucket}/journal`,
      MEDIA_ARTIFACTS: `s3://${bucket}/artifacts`,
      MEDIA_TASK_QUEUE: taskQueue,
    };
    media = new TemporalMediaClient(stack.server.client, { taskQueue });
  });
  afterEach(async () => {
    for (const worker of workers) worker.signal('SIGKILL');
    await Promise.all(workers.map(({ gone }) => gone));
    workers = [];
  });

  async function startWorker(name: string, endpoint: string): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(stack, WORKER, {
      ...server.env,
      ...place,
      AWS_ENDPOINT_URL_S3: endpoint,
      MEDIA_DATA_DIR: join(stack.dataDir, place.MEDIA_TASK_QUEUE, name),
    });
    workers.push(worker);
    return worker;
  }

  const journal = () =>
    createJournal(createS3Records({ client: clientOf(server), bucket, prefix: 'journal' }));

  async function acceptedOf(prompt: string): Promise<number> {
    return (await stack.sandbox.admin.tasks()).filter((task) => task.prompt === prompt).length;
  }

  async function startVideo(id: string): Promise<{ id: string; result: Promise<VideoOutcome> }> {
    const request = { model: 'cine-1', prompt: id, durationSeconds: 2 };
    const started = await media.startVideo({ request }, { id });
    return { id, result: started.result() };
  }

  test.each(['goes on without its record', 'is killed while it is cut off'])(
    '[C4.4a] [C4.4b] between intent and answer: the worker %s, then another one takes over',
    async (how) => {
      const first = await startWorker('first', proxy.endpoint);
      const id = stack.server.uniqueId('video');
      await stack.sandbox.admin.addFaults([
        { operation: 'create', promptIncludes: id, action: { type: 'delay', ms: 3_000 } },
      ]);
      const video = await startVideo(id);
      await eventually('the intent', async () => (await logOf(id)).length > 0, MAX_WAIT_MS);
      await eventually('the request', () => seen(id), MAX_WAIT_MS);
      // From here on nothing of this worker reaches the bucket, and nothing comes back.
      proxy.rule = () => ({ when: 'before', what: 'cut' });
      await eventually('the task', async () => (await acceptedOf(id)) === 1, MAX_WAIT_MS);
      // Its reply comes through Temporal, although nothing could record it.
      if (how === 'goes on without its record')
        await eventually(
          'the task id in the workflow',
          async () => (await media.videoState(id).catch(() => undefined))?.phase === 'watching',
          MAX_WAIT_MS,
        );
      first.signal('SIGKILL');
      await first.gone;
      await startWorker('second', server.endpoint);
      const outcome = await video.result;
      // The reply came through Temporal, or nobody can know and it waits for a person: never a second task.
      const expected = how === 'is killed while it is cut off' ? ['unconfirmed', 'completed'] : ['completed'];
      expect(expected).toContain(outcome.outcome);
      expect(await acceptedOf(id)).toBe(1);
      const [task] = (await stack.sandbox.admin.tasks()).filter((one) => one.prompt === id);
      if (outcome.outcome === 'completed') expect(outcome.video.taskId).toBe(task?.id);

      // The same key once more, by another workflow on the second worker: the record holds it off.
      const again = (await stack.server.client.workflow.execute(WORKFLOW.generateVideo, {
        taskQueue: place.MEDIA_TASK_QUEUE,
        workflowId: `${id}-again`,
        args: [{ request: { model: 'cine-1', prompt: id, durationSeconds: 2 }, creationKey: id }],
      })) as VideoOutcome;
      expect(['completed', 'unconfirmed']).toContain(again.outcome);
      expect(await acceptedOf(id)).toBe(1);
    },
    300_000,
  );

  test('[C4.4a] a bucket that is slow, busy, silent and forgetful: nothing is bought twice, and all of it comes to its end', async () => {
    await startWorker('first', proxy.endpoint);
    await startWorker('second', proxy.endpoint);
    let turn = 0;
    const well = Array.from({ length: 6 }, () => null);
    const faults: readonly (Fault | null)[] = [
      { when: 'before', what: { status: 503, code: 'SlowDown' } },
      ...well,
      { when: 'after', what: { status: 500, code: 'InternalError' } },
      ...well,
      { when: 'after', what: 'cut' },
      ...well,
      { when: 'before', what: 'cut' },
      ...well,
      { when: 'after', what: 'hang' },
      ...well,
    ];
    proxy.rule = ({ url }) =>
      url.includes('/journal/') ? (faults[(turn += 1) % faults.length] ?? null) : null;
    const videos = await Promise.all(
      Array.from({ length: 12 }, () => startVideo(stack.server.uniqueId('video'))),
    );
    const outcomes = await Promise.all(videos.map(({ result }) => result));
    expect(turn).toBeGreaterThan(50);
    for (const [index, { id }] of videos.entries()) {
      const accepted = await acceptedOf(id);
      expect({ id, accepted, outcome: outcomes[index]?.outcome }).toEqual({
        id,
        accepted: 1,
        outcome: 'completed',
      });
    }
  }, 300_000);

  test('[C4.4a] a bucket that is away: nothing is sent, and it goes on by itself when it is back', async () => {
    await startWorker('first', proxy.endpoint);
    const warm = await startVideo(stack.server.uniqueId('warm'));
    expect((await warm.result).outcome).toBe('completed');
    proxy.rule = () => ({ when: 'before', what: { status: 503, code: 'SlowDown' } });
    const asked = proxy.requests.length;
    const video = await startVideo(stack.server.uniqueId('video'));
    await eventually('tries', async () => proxy.requests.length > asked + 3, MAX_WAIT_MS);
    expect(await acceptedOf(video.id)).toBe(0);
    proxy.rule = () => null;
    expect((await video.result).outcome).toBe('completed');
    expect(await acceptedOf(video.id)).toBe(1);
  }, 300_000);

  async function logOf(id: string): Promise<readonly unknown[]> {
    const { namespace } = stack.server;
    return journal().read({ namespace, creationKey: id });
  }

  async function seen(prompt: string): Promise<boolean> {
    const requests = await stack.sandbox.admin.requests({ operation: 'create' });
    return requests.some(({ json }) => (json as { prompt?: unknown } | undefined)?.prompt === prompt);
  }
});
