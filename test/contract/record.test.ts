import { type PolledRecord } from '../../src/domain/poll-answers';
import { type ContractBench, openBench } from './contract-bench';

/** Contract 2.2 over the wire: what a poll makes of a record. */
describe('a task record', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ sandbox: { timing: { queuedMs: 0, runningMs: 3_600_000 } } });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  /** One poll of a new task whose record is patched like this; null takes a field away. */
  async function read(patch: Record<string, unknown>, model = 'cine-1'): Promise<PolledRecord> {
    const { video } = await bench.created({ model });
    await bench.fault('poll', { type: 'record', patch: patch });
    const answer = await bench.poll(video);
    if (answer === undefined || !('record' in answer)) throw new Error(JSON.stringify(answer));
    return answer.record;
  }

  test('[C2.2.1] the id of the create reply stays in every later path, whatever later records say', async () => {
    const { video } = await bench.created({ model: 'motion-omni' });
    const created = (await bench.seen())[0]?.taskId;
    expect(video.taskId).toBe(created);
    expect(created).toContain(':');
    for (const id of ['another-task', null, 17, '../../x'])
      await bench.fault('poll', { type: 'record', patch: { id } });
    for (let poll = 0; poll < 5; poll++) await bench.poll(video);
    await bench.admin.patchTask(video.taskId, { status: 'completed', record: { id: 'another-task' } });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
    const paths = (await bench.seen()).slice(1).map(({ path }) => path.replace(/\/content$/, ''));
    expect(paths).toHaveLength(7);
    expect(new Set(paths)).toEqual(new Set([`/v1/videos/${encodeURIComponent(created!)}`]));
  });

  test.each([
    ['queued', 'queued'],
    ['in_progress', 'in_progress'],
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['SUBMITTED', 'queued'],
    ['Processing', 'in_progress'],
    ['succeeded', 'completed'],
    ['cancelled', 'failed'],
    ['expired', 'failed'],
    ['polishing', 'unknown'],
    ['almost_completed', 'unknown'],
    ['', 'unknown'],
  ])('[C2.2.2] the word %j is %s and is reported as it came', async (word, phase) => {
    const { video } = await bench.created();
    await bench.fault('poll', { type: 'status_word', status: word });
    expect(await bench.poll(video)).toMatchObject({ record: { status: word.toLowerCase(), phase } });
  });

  test.each([
    [0, 0],
    [0.5, 0.5],
    [100, 100],
    ['37', 37],
    [101, undefined],
    [-1, undefined],
    [1e308, undefined],
    [null, undefined],
    ['soon', undefined],
    ['', undefined],
    [{ percent: 3 }, undefined],
    [true, undefined],
  ])('[C2.2.3] progress %j is passed on as %p', async (sent, progress) => {
    const record = await read({ progress: sent });
    expect(record.progress).toBe(progress);
    expect('progress' in record).toBe(progress !== undefined);
  });

  test('[C2.2.4] without progress no percentage or time left appears, and 0 until the end is normal', async () => {
    const { video } = await bench.created({ model: 'atlas-long' });
    const bare = await bench.poll(video);
    expect(bare).toMatchObject({ record: { status: 'in_progress', phase: 'in_progress' } });
    expect(JSON.stringify(bare)).not.toMatch(/"progress"|percent|remaining|"eta|%/i);
    const zero = await bench.created({ model: 'cine-1-pro' });
    for (let poll = 0; poll < 3; poll++)
      expect(await bench.poll(zero.video)).toMatchObject({ record: { progress: 0, phase: 'in_progress' } });
    await bench.admin.patchTask(zero.video.taskId, { status: 'completed' });
    expect(await bench.poll(zero.video)).toMatchObject({ record: { progress: 100, phase: 'completed' } });
  });

  test('[C2.2.5] model, usage, resolution, duration and fps may each be absent, and never stand in for what was requested', async () => {
    const facts = { model: 'cine-1', resolution: '480p', seconds: '4', fps: 12 };
    const all = await read({ ...facts, usage: { cost: 1 } });
    expect(all).toMatchObject({
      usage: { cost: 1 },
      reported: { model: 'cine-1', resolution: '480p', durationSeconds: 4, fps: 12 },
    });
    for (const name of Object.keys(facts)) {
      const kept = name === 'seconds' ? 'durationSeconds' : name;
      const { reported } = await read({ ...facts, [name]: null });
      expect(reported).not.toHaveProperty(kept);
      expect(Object.keys(reported ?? {})).toHaveLength(3);
    }
    const none = await read({ model: null, resolution: null, seconds: null, fps: null });
    expect(none).not.toHaveProperty('reported');
    expect(none).not.toHaveProperty('usage');

    const { video } = await bench.created({ durationSeconds: 2, resolution: '480p' });
    await bench.admin.patchTask(video.taskId, {
      status: 'completed',
      record: { model: 'cine-9', seconds: 9, resolution: '240p' },
    });
    const { result } = await bench.download(video);
    expect(video).toMatchObject({ model: 'cine-1', durationSeconds: 2, resolution: '480p' });
    if (result.outcome !== 'downloaded') throw new Error(JSON.stringify(result));
    expect(result.reported).toMatchObject({ model: 'cine-9', durationSeconds: 9, resolution: '240p' });
    expect(result.warnings.join()).toMatch(/duration.*resolution.*model/s);
  });

  test.each([
    ['url', (link: string) => ({ url: link })],
    ['video_url', (link: string) => ({ url: null, video_url: link })],
    ['metadata.url', (link: string) => ({ url: null, metadata: { url: link } })],
    ['output[]', (link: string) => ({ url: null, output: [link] })],
    ['data.video_url', (link: string) => ({ url: null, data: { video_url: link } })],
    ['no name at all', () => ({ url: null })],
  ])(
    '[C2.2.7] a result is found under %s, and without any URL the record is still complete',
    async (name, place) => {
      const { video } = await bench.created({ durationSeconds: 2 });
      await bench.admin.patchTask(video.taskId, { status: 'completed' });
      const signed = await signedLink(video);
      await bench.admin.patchTask(video.taskId, { record: place(signed) });
      expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed' } });
      // The content endpoint is gone, so that only the URL of the record is left.
      if (name !== 'no name at all') await bench.fault('content', { type: 'expired' }, { times: 0 });
      expect((await bench.download(video)).result.outcome).toBe('downloaded');
      expect((await bench.seen()).at(-1)?.operation).toBe('media');
    },
  );

  /** The link that the content endpoint redirects to. */
  async function signedLink({ taskId }: { taskId: string }): Promise<string> {
    const reply = await fetch(`${bench.sandbox.url}/v1/videos/${taskId}/content`, {
      redirect: 'manual',
      headers: { authorization: 'Bearer sandbox-key' },
    });
    return reply.headers.get('location')!;
  }

  test('[C2.2.6] a result URL crosses to nobody: what is kept is the file', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.admin.patchTask(video.taskId, { status: 'completed' });
    const answer = await bench.poll(video);
    const { result } = await bench.download(video);
    expect(result).toMatchObject({
      outcome: 'downloaded',
      artifact: { uri: expect.stringMatching(/^artifact:/) as string },
    });
    for (const kept of [answer, result]) expect(JSON.stringify(kept)).not.toMatch(/https?:|signature/i);
  });

  test.each([
    ['an object', { error: { code: 'moderation_blocked', message: 'no' } }, 'moderation'],
    ['a text', { error: 'DataInspectionFailed: no' }, 'moderation'],
    ['a number', { error: { code: 503, message: 'ModelLoadingError' } }, 'capacity'],
    ['fields beside it', { error: null, fail_reason: 'THROTTLED' }, 'capacity'],
    ['a list', { error: [{ code: 'QuotaExceeded' }] }, 'quota'],
    ['an empty object', { error: {} }, 'unknown'],
    ['null', { error: null }, 'unknown'],
    ['absent', {}, 'unknown'],
    ['a boolean', { error: true }, 'unknown'],
  ])('[C2.2.8] a failed task whose error is %s is read', async (_shape, fields, kind) => {
    const record = await read({ status: 'failed', ...fields });
    expect(record).toMatchObject({ phase: 'failed', error: { kind } });
  });
});
