import { type SandboxStatus } from '../../packages/sandbox/src';
import { type VideoTask } from '../../src/domain/video-task';
import { type ContractBench, openBench } from './contract-bench';

/** Contract 3, as far as polls and downloads show it; what a wait makes of them is proved in the pure domain. */
describe('the states of a video task', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ sandbox: { timing: { queuedMs: 3_600_000, runningMs: 0 } } });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const show = (video: VideoTask, status: SandboxStatus) => bench.admin.patchTask(video.taskId, { status });

  test('[C3.1] [C3.5] [C3.6] queued and in_progress are records to be polled again, nowhere a failure', async () => {
    const { video, status } = await bench.created();
    expect(status).toBe('queued');
    const before = bench.diagnostics.length;
    const queued = await bench.poll(video);
    expect(queued).toMatchObject({ record: { status: 'queued', phase: 'queued', progress: 0 } });
    await bench.admin.patchTask(video.taskId, { status: 'in_progress', record: { progress: 42 } });
    const running = await bench.poll(video);
    expect(running).toMatchObject({ record: { status: 'in_progress', progress: 42 } });
    for (const answer of [queued, running]) {
      expect(answer).not.toHaveProperty('error');
      expect(answer).not.toHaveProperty('record.error');
    }
    expect(bench.diagnostics.slice(before).filter((line) => !line.startsWith('DEBUG'))).toEqual([]);
  });

  test('[C3.6] a record that did not change is not told twice, and every poll asks anew', async () => {
    const { video } = await bench.created();
    const first = await bench.poll(video);
    if (first === undefined || !('digest' in first)) throw new Error(JSON.stringify(first));
    expect(await bench.poll(video, first.digest)).toBeUndefined();
    await show(video, 'in_progress');
    expect(await bench.poll(video, first.digest)).toMatchObject({ record: { status: 'in_progress' } });
    expect(await bench.seen('poll')).toHaveLength(3);
  });

  test('[C3.2] completed is fetched from the content endpoint, or by the URL of the record', async () => {
    for (const [content, last] of [
      ['there', 'media'],
      ['gone', 'media'],
    ] as const) {
      const { video } = await bench.created({ durationSeconds: 2 });
      await show(video, 'completed');
      if (content === 'gone') await bench.fault('content', { type: 'not_ready' }, { taskId: video.taskId });
      const { result, tries } = await bench.download(video);
      expect(result.outcome).toBe('downloaded');
      expect(tries).toEqual([]);
      const ofTask = (await bench.seen()).filter(({ taskId }) => taskId === video.taskId);
      expect(ofTask.at(-2)).toMatchObject({ operation: 'content', status: content === 'gone' ? 404 : 302 });
      expect(ofTask.at(-1)).toMatchObject({ operation: last, status: 200 });
    }
  });

  test('[C3.3] however often a task is polled and fetched, no second one is created', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    const bad = [500, 503, 400, 404, 401] as const;
    for (const status of bad) await bench.fault('poll', { type: 'status', status });
    for (let poll = 0; poll < 8; poll++) await bench.poll(video);
    await show(video, 'completed');
    await bench.fault('content', { type: 'status', status: 502 }, { times: 2 });
    await bench.fault('media', { type: 'status', status: 404 }, { times: 1 });
    const files = [];
    for (let fetch = 0; fetch < 3; fetch++) files.push((await bench.download(video)).result);
    expect(files.map(({ outcome }) => outcome)).toEqual(['downloaded', 'downloaded', 'downloaded']);
    expect(new Set(files.map((one) => 'artifact' in one && one.artifact.sha256)).size).toBe(1);
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test('[C3.7] failed: the error is read, and nothing creates the video again', async () => {
    const creationKey = 'fails-for-good';
    const request = { prompt: 'a storm [fail:moderation]' };
    const answer = await bench.create(request, { creationKey });
    if (answer.outcome !== 'created') throw new Error(JSON.stringify(answer));
    await show(answer.video, 'failed');
    for (let poll = 0; poll < 3; poll++)
      expect(await bench.poll(answer.video)).toMatchObject({
        record: { phase: 'failed', error: { kind: 'moderation' } },
      });
    // The same create again, as a retry or a reset would do it.
    const again = await bench.create(request, { creationKey });
    expect(again).toMatchObject({ outcome: 'created', sent: false, video: { taskId: answer.video.taskId } });
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test('[C3.8] final at creation, skipped and backward steps are all read as they come', async () => {
    const { video } = await bench.created();
    const walk: SandboxStatus[] = ['in_progress', 'queued', 'completed', 'queued', 'failed', 'in_progress'];
    const read: unknown[] = [];
    for (const status of walk) {
      await show(video, status);
      const answer = await bench.poll(video);
      read.push(answer !== undefined && 'record' in answer && answer.record.phase);
    }
    expect(read).toEqual(walk);
    for (const status of ['completed', 'failed'] as const) {
      const body = { id: `final-${status}`, status };
      await bench.fault('create', { type: 'accept_then_status', status: 200, body });
      expect(await bench.create({})).toMatchObject({
        outcome: 'created',
        status,
        video: { taskId: body.id },
      });
    }
  });

  test('[C3.4] a task that nobody waited for any more is polled and fetched later by its id alone', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    const { video: found } = await bench.run('media.findVideoTask', { taskId: video.taskId });
    await show(video, 'completed');
    expect(await bench.poll(found)).toMatchObject({ record: { phase: 'completed' } });
    expect((await bench.download(found)).result.outcome).toBe('downloaded');
    expect((await bench.admin.counters()).creates.received).toBe(1);
  });
});
