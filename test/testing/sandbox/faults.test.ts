import { type FaultAction, promptHash } from '../../../packages/sandbox/src';
import { jsonOf, postJson, rawCall } from './raw-call';
import { aVideo, runSandbox, type RunningSandbox } from './running-sandbox';

describe('sandbox faults', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  const onCreate = (action: FaultAction): Promise<void> =>
    sandbox.admin.addFaults([{ operation: 'create', action }]);
  const creates = async (): Promise<unknown> => (await sandbox.admin.counters()).creates;
  const lastCreate = async () => (await sandbox.admin.requests({ operation: 'create' })).at(-1);

  test('status answers without accepting, in any shape', async () => {
    await onCreate({ type: 'status', status: 429, headers: { 'retry-after': '2' } });
    await onCreate({ type: 'status', status: 502, raw: '<h1>Bad gateway</h1>', contentType: 'text/html' });
    await onCreate({
      type: 'status',
      status: 400,
      body: { detail: [{ loc: ['body'], msg: 'no', type: 'x' }] },
    });
    const [limited, gateway, invalid] = [
      await sandbox.create(aVideo),
      await sandbox.create(aVideo),
      await sandbox.create(aVideo),
    ];
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '2']);
    expect([gateway.headers['content-type'], gateway.body.toString()]).toEqual([
      'text/html',
      '<h1>Bad gateway</h1>',
    ]);
    expect(jsonOf(invalid)).toHaveProperty('detail');
    expect(await creates()).toEqual({ received: 3, accepted: 0 });
    expect((await sandbox.create(aVideo)).status).toBe(200);
  });

  test('accept_then_status accepts and hides it', async () => {
    await onCreate({ type: 'accept_then_status', status: 504 });
    expect((await sandbox.create(aVideo)).status).toBe(504);
    expect(await creates()).toEqual({ received: 1, accepted: 1 });
    expect(await sandbox.admin.tasks()).toHaveLength(1);
    expect((await lastCreate())?.accepted).toBe(true);
  });

  test.each([
    [true, 'reset', 'ECONNRESET'],
    [false, 'reset', 'ECONNRESET'],
    [true, 'close', 'ECONNRESET'],
  ] as const)('lose_reply accepted=%s by %s', async (accepted, how, error) => {
    await onCreate({ type: 'lose_reply', accepted, how });
    expect(await sandbox.create(aVideo)).toMatchObject({ status: undefined, error });
    expect(await creates()).toEqual({ received: 1, accepted: accepted ? 1 : 0 });
    const entry = await lastCreate();
    expect(entry).toMatchObject({ accepted, finished: how === 'reset' ? 'reset' : 'cut', json: aVideo });
  });

  test('lose_reply by cut_body sends headers and half of the body', async () => {
    await onCreate({ type: 'lose_reply', accepted: true, how: 'cut_body' });
    const reply = await sandbox.create(aVideo);
    expect([reply.status, reply.complete]).toEqual([200, false]);
    expect(reply.body.length).toBeLessThan(Number(reply.headers['content-length']));
  });

  test.each(['stall', 'stall_body'] as const)('%s hangs until it is released', async (how) => {
    await onCreate({ type: 'lose_reply', accepted: true, how });
    let settled = false;
    const reply = sandbox.create(aVideo).finally(() => (settled = true));
    while ((await lastCreate())?.finished !== 'stalled') await new Promise(setImmediate);
    expect(settled).toBe(false);
    expect(await sandbox.admin.releaseStalled()).toBe(1);
    expect(await reply).toMatchObject({ status: 200, complete: true });
    expect(jsonOf(await reply)).toHaveProperty('id');
  });

  test('reset_early resets before the body is read', async () => {
    await onCreate({ type: 'reset_early' });
    expect(await sandbox.create(aVideo)).toMatchObject({ status: undefined, error: 'ECONNRESET' });
    expect(await lastCreate()).toMatchObject({ accepted: false, finished: 'reset', bodyBytes: 0 });
  });

  test('skip, times, model, prompt and task narrow a rule', async () => {
    const action: FaultAction = { type: 'status', status: 503 };
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: 'dog', action, skip: 1, times: 2 },
      { operation: 'create', model: 'sketch-lite', action, times: 0 },
    ]);
    const statuses = [];
    for (const prompt of ['dog', 'cat', 'dog', 'dog', 'dog']) {
      statuses.push((await sandbox.create({ ...aVideo, prompt })).status);
    }
    expect(statuses).toEqual([200, 200, 503, 503, 200]);
    const lite = { model: 'sketch-lite', prompt: 'cat' };
    for (let turn = 0; turn < 3; turn += 1) expect((await sandbox.create(lite)).status).toBe(503);
    await sandbox.admin.clearFaults();
    const [one, two] = [jsonOf(await sandbox.create(lite)), jsonOf(await sandbox.create(lite))];
    await sandbox.admin.addFaults([{ operation: 'poll', taskId: String(two.id), action, times: 0 }]);
    expect((await rawCall(sandbox.taskUrl(String(one.id)))).status).toBe(200);
    expect((await rawCall(sandbox.taskUrl(String(two.id)))).status).toBe(503);
  });

  test('every takes one of so many requests', async () => {
    const action: FaultAction = { type: 'status', status: 503 };
    await sandbox.admin.addFaults([{ operation: 'create', action, skip: 1, every: 3, times: 2 }]);
    const statuses = [];
    for (let turn = 0; turn < 9; turn += 1) statuses.push((await sandbox.create(aVideo)).status);
    expect(statuses).toEqual([200, 503, 200, 200, 503, 200, 200, 200, 200]);
  });

  test('delay combines with the next rule', async () => {
    const id = await sandbox.newTask();
    await sandbox.admin.addFaults([
      { operation: 'poll', action: { type: 'delay', ms: 30 } },
      { operation: 'poll', action: { type: 'status', status: 503 } },
    ]);
    const before = Date.now();
    expect((await rawCall(sandbox.taskUrl(id))).status).toBe(503);
    expect(Date.now() - before).toBeGreaterThanOrEqual(29);
  });

  test('record, status_word and task_fails change what a poll shows', async () => {
    const id = await sandbox.newTask();
    const onPoll = (action: FaultAction): Promise<void> =>
      sandbox.admin.addFaults([{ operation: 'poll', action }]);
    await onPoll({ type: 'record', patch: { progress: null, extra: { deep: 1 }, id: 'other' } });
    await onPoll({ type: 'status_word', status: 'REVIEWING' });
    await onPoll({ type: 'task_fails', error: 'a plain text', progress: 100 });
    const patched = await sandbox.poll(id);
    expect(patched).toMatchObject({ id: 'other', extra: { deep: 1 } });
    expect(patched).not.toHaveProperty('progress');
    expect((await sandbox.poll(id)).status).toBe('REVIEWING');
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await sandbox.poll(id)).toMatchObject({
        status: 'failed',
        error: 'a plain text',
        progress: 100,
      });
    }
  });

  const direct = { model: 'motion-omni', prompt: 'x', seconds: undefined, duration: 3 };

  test.each<[string, FaultAction, Record<string, unknown>]>([
    ['json_page', { type: 'json_page' }, { status: 200, type: 'video/mp4', start: '{' }],
    ['html_page', { type: 'html_page' }, { status: 200, type: 'video/mp4', start: '<' }],
    ['not_ready', { type: 'not_ready', status: 409 }, { status: 409, start: '{' }],
    ['expired', { type: 'expired' }, { status: 404, start: '{' }],
    [
      'redirect',
      { type: 'redirect', location: 'http://127.0.0.1:1/', status: 307 },
      { status: 307, start: '' },
    ],
  ])('content: %s', async (_name, action, wanted) => {
    const id = await sandbox.newTask(direct);
    await sandbox.admin.addFaults([{ operation: 'content', action }]);
    const reply = await rawCall(`${sandbox.taskUrl(id)}/content`);
    const { type = reply.headers['content-type'], ...rest } = wanted;
    expect({ status: reply.status, start: reply.body.toString('latin1', 0, 1) }).toEqual(rest);
    expect(reply.headers['content-type']).toBe(type);
  });

  test('content: cut_body, truncate and slow_body', async () => {
    const id = await sandbox.newTask(direct);
    const url = `${sandbox.taskUrl(id)}/content`;
    const whole = await rawCall(url);
    const onContent = (action: FaultAction): Promise<void> =>
      sandbox.admin.addFaults([{ operation: 'content', action }]);
    for (const how of ['reset', 'close'] as const) {
      await onContent({ type: 'cut_body', afterBytes: 1000, how });
      const cut = await rawCall(url);
      expect(cut).toMatchObject({ status: 200, complete: false, body: whole.body.subarray(0, 1000) });
      expect(Number(cut.headers['content-length'])).toBe(whole.body.length);
    }
    await onContent({ type: 'truncate', bytes: 1000 });
    expect(await rawCall(url)).toMatchObject({ complete: true, body: whole.body.subarray(0, 1000) });
    await onContent({ type: 'slow_body', bytesPerSecond: whole.body.length * 5 });
    const before = Date.now();
    expect((await rawCall(url)).body).toEqual(whole.body);
    expect(Date.now() - before).toBeGreaterThanOrEqual(150);
  });

  test('faults reach generated files, edits, generations and the model document', async () => {
    const action: FaultAction = { type: 'status', status: 503 };
    const operations = ['generate', 'generated', 'models', 'media'] as const;
    await sandbox.admin.addFaults(operations.map((operation) => ({ operation, action })));
    const replies = await Promise.all([
      postJson(`${sandbox.url}/v1/images/generations`, { model: 'image-2', prompt: 'x' }),
      rawCall(`${sandbox.url}/generated/any.png`),
      rawCall(sandbox.modelsUrl),
      rawCall(`${sandbox.mediaUrl}/files/any.mp4`),
    ]);
    expect(replies.map((reply) => reply.status)).toEqual([503, 503, 503, 503]);
  });

  test('counters say what was really accepted, by prompt and by model', async () => {
    await onCreate({ type: 'lose_reply', accepted: true, how: 'reset' });
    await sandbox.create(aVideo);
    await sandbox.create(aVideo);
    const counters = await sandbox.admin.counters();
    expect(counters.acceptedByPromptHash).toEqual({ [promptHash(aVideo.prompt)]: 2 });
    expect(counters.acceptedByModel).toEqual({ 'cine-1': 2 });
    expect(counters.operations.create).toMatchObject({ received: 2, accepted: 2, rejected: 0 });
  });
});
