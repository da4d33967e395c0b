import { jsonOf, postJson, rawCall } from './raw-call';
import { aVideo, runSandbox, type RunningSandbox } from './running-sandbox';

describe('sandbox videos', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox({ forbiddenKeys: ['guest-key'], pathPrefix: '/proxy/media' });
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  test('a task goes through queued and in_progress to completed, then its content is an MP4', async () => {
    const reply = await sandbox.create({ ...aVideo, prompt: 'slow [queue:60s] [run:60s]' });
    const created = jsonOf(reply);
    expect([reply.status, created.status]).toEqual([200, 'queued']);
    const id = String(created.id);
    expect((await sandbox.poll(id)).status).toBe('queued');
    await sandbox.admin.patchTask(id, { createdAt: Date.now() - 90_000 });
    expect(await sandbox.poll(id)).toMatchObject({ status: 'in_progress', progress: 50 });
    await sandbox.admin.patchTask(id, { createdAt: Date.now() - 121_000 });
    expect(await sandbox.poll(id)).toMatchObject({ status: 'completed', progress: 100 });
    const content = await rawCall(`${sandbox.taskUrl(id)}/content`);
    expect(content.status).toBe(302);
    const location = String(content.headers.location);
    expect(new URL(location).origin).toBe(sandbox.mediaUrl);
    const file = await rawCall(location, { key: null });
    expect([file.status, file.headers['content-type']]).toEqual([200, 'video/mp4']);
    expect(file.body.subarray(4, 8).toString()).toBe('ftyp');
  });

  test('another model answers with the bytes itself, and its ids need encoding', async () => {
    const id = await sandbox.newTask({ model: 'motion-omni', seconds: undefined, duration: 3 });
    expect(id).toContain(':');
    const content = await rawCall(`${sandbox.taskUrl(id)}/content`);
    expect([content.status, content.headers['content-type']]).toEqual([200, 'video/mp4']);
    expect(content.headers.etag).toMatch(/^"[0-9a-f]{32}"$/);
  });

  test.each([
    ['cine-1', { seconds: 4 }, [0, 50, 100]],
    ['cine-1-pro', { seconds: 4 }, [0, 0, 100]],
    ['motion-omni', { duration: 5 }, [undefined, undefined, undefined]],
  ])('progress of %s', async (model, fields, progress) => {
    const id = await sandbox.newTask({
      ...fields,
      model,
      prompt: '[queue:100s] [run:100s]',
      seconds: undefined,
      ...fields,
    });
    const shown: unknown[] = [];
    for (const age of [1_000, 150_500, 300_000]) {
      await sandbox.admin.patchTask(id, { createdAt: Date.now() - age });
      shown.push((await sandbox.poll(id)).progress);
    }
    expect(shown).toEqual(progress);
  });

  test('the result URL stands under another name from task to task, and sometimes nowhere', async () => {
    const names = new Set<string>();
    for (let task = 0; task < 14; task += 1) {
      const record = await sandbox.poll(await sandbox.newTask());
      const known = [
        'id',
        'status',
        'progress',
        'object',
        'model',
        'created_at',
        'resolution',
        'seconds',
        'fps',
      ];
      names.add(
        Object.keys(record)
          .filter((name) => ![...known, 'usage', 'completed_at'].includes(name))
          .join('+'),
      );
    }
    expect(names.size).toBeGreaterThanOrEqual(11);
    expect(names).toContain('');
  });

  test('content of a task that is not completed is refused and noted as a violation', async () => {
    const id = await sandbox.newTask({ prompt: '[run:60s]' });
    expect((await rawCall(`${sandbox.taskUrl(id)}/content`)).status).toBe(404);
    const [entry] = await sandbox.admin.requests({ operation: 'content' });
    expect(entry?.violations).toHaveLength(1);
  });

  test('content of a failed task is 422', async () => {
    const id = await sandbox.newTask({ prompt: '[fail:capacity]' });
    expect((await sandbox.poll(id)).status).toBe('failed');
    expect((await rawCall(`${sandbox.taskUrl(id)}/content`)).status).toBe(422);
  });

  test.each([
    [null, 401, 'none'],
    ['wrong', 401, 'invalid'],
    ['guest-key', 403, 'forbidden'],
  ])('key %s gives %d everywhere', async (key, status, authorization) => {
    const replies = await Promise.all([
      postJson(`${sandbox.url}/v1/videos`, aVideo, { key }),
      postJson(`${sandbox.url}/v1/images/generations`, { model: 'image-2', prompt: 'x' }, { key }),
      rawCall(`${sandbox.url}/v1/images/edits`, { method: 'POST', key }),
      rawCall(`${sandbox.url}/v1/videos/video_12345678`, { key }),
      rawCall(`${sandbox.url}/v1/videos/video_12345678/content`, { key }),
    ]);
    expect(replies.map((reply) => reply.status)).toEqual([status, status, status, status, status]);
    expect((await sandbox.admin.requests()).every((entry) => entry.authorization === authorization)).toBe(
      true,
    );
    expect((await sandbox.admin.counters()).creates).toEqual({ received: 1, accepted: 0 });
  });

  test('unknown ids are 404 or 400, unknown paths 404', async () => {
    expect((await rawCall(sandbox.taskUrl('video_0000000000'))).status).toBe(404);
    expect((await rawCall(sandbox.taskUrl('../x y'))).status).toBe(400);
    expect((await rawCall(`${sandbox.url}/v1/v1/videos`)).status).toBe(404);
    expect((await rawCall(new URL('/v1/videos', sandbox.url).href, { method: 'POST' })).status).toBe(404);
    expect(await sandbox.admin.requests({ operation: 'unknown' })).toHaveLength(2);
  });

  test('keys, cookies and signatures are not kept in the log', async () => {
    const id = await sandbox.newTask();
    const content = await rawCall(`${sandbox.taskUrl(id)}/content`, {
      headers: { cookie: 'session=very-secret' },
    });
    const signature = new URL(String(content.headers.location)).searchParams.get('signature') ?? '';
    await rawCall(String(content.headers.location), { key: null });
    const log = JSON.stringify(await sandbox.admin.requests());
    for (const secret of ['sandbox-key', 'very-secret', signature]) expect(log).not.toContain(secret);
    expect(log).toContain('masked');
  });
});

describe('minimal records', () => {
  test('hold id, status and progress only', async () => {
    const sandbox = await runSandbox({ records: 'minimal' });
    const id = await sandbox.newTask();
    expect(await sandbox.poll(id)).toEqual({ id, status: 'completed', progress: 100 });
    await sandbox.close();
  });
});
