import { promptDirectives } from '../../../packages/sandbox/src';
import { jsonOf, rawCall } from './raw-call';
import { aVideo, runSandbox, type RunningSandbox } from './running-sandbox';

describe('prompt directives', () => {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await runSandbox();
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  test('every example in the table is understood by its own pattern', () => {
    for (const { pattern, example } of promptDirectives) {
      for (const [, word] of example.matchAll(/\[([^\]]+)\]/g)) expect(word).toMatch(pattern);
    }
  });

  test.each([
    ['[http:429:2]', 429, '2'],
    ['[http:503:1]', 503, '1'],
    ['[http:502]', 502, undefined],
    ['[http:500]', 500, undefined],
  ])('%s refuses the first create with that prompt only', async (prompt, status, retryAfter) => {
    const first = await sandbox.create({ ...aVideo, prompt });
    expect([first.status, first.headers['retry-after']]).toEqual([status, retryAfter]);
    expect((await sandbox.create({ ...aVideo, prompt })).status).toBe(200);
    expect((await sandbox.admin.counters()).creates).toEqual({ received: 2, accepted: 1 });
  });

  test('[lost-reply] accepts and resets, once', async () => {
    expect((await sandbox.create({ ...aVideo, prompt: 'x [lost-reply]' })).error).toBe('ECONNRESET');
    expect((await sandbox.admin.counters()).creates.accepted).toBe(1);
    expect((await sandbox.create({ ...aVideo, prompt: 'x [lost-reply]' })).status).toBe(200);
  });

  test.each(['moderation', 'capacity', 'invalid', 'quota', 'unknown'])(
    '[fail:%s] fails with shapes that differ from task to task',
    async (kind) => {
      const shapes = new Set<string>();
      for (let task = 0; task < 5; task += 1) {
        const {
          id: _,
          created_at: __,
          seconds: ___,
          ...record
        } = await sandbox.poll(await sandbox.newTask({ prompt: `[fail:${kind}]` }));
        expect(record.status).toBe('failed');
        shapes.add(JSON.stringify(record));
      }
      expect(shapes.size).toBeGreaterThanOrEqual(3);
    },
  );

  test('[run:…] and [queue:…] set the times of the task', async () => {
    await sandbox.newTask({ prompt: '[run:30s] [queue:2.5s]' });
    expect((await sandbox.admin.tasks())[0]).toMatchObject({
      queuedMs: 2500,
      runningMs: 30_000,
      shown: 'queued',
    });
  });

  test('[content:…] works on the content endpoint, [poll:…] on polls', async () => {
    const statuses = async (prompt: string, path: string, times: number): Promise<unknown[]> => {
      const id = await sandbox.newTask({ prompt });
      const seen: unknown[] = [];
      for (let turn = 0; turn < times; turn += 1)
        seen.push((await rawCall(`${sandbox.taskUrl(id)}${path}`)).status);
      return seen;
    };
    expect(await statuses('[content:not-ready:2]', '/content', 3)).toEqual([404, 404, 302]);
    expect(await statuses('[content:expired]', '/content', 3)).toEqual([404, 404, 404]);
    expect(await statuses('[content:json]', '/content', 2)).toEqual([200, 302]);
    expect(await statuses('[poll:http:503:2]', '', 3)).toEqual([503, 503, 200]);
  });

  test('[content:cut:…] breaks the first download where the bytes come from', async () => {
    const id = await sandbox.newTask({ prompt: '[content:cut:1000]' });
    const { location } = (await rawCall(`${sandbox.taskUrl(id)}/content`)).headers;
    const cut = await rawCall(String(location), { key: null });
    expect([cut.body.length, cut.complete]).toEqual([1000, false]);
    expect((await rawCall(String(location), { key: null })).complete).toBe(true);
  });

  test('a directive of a prompt is kept out of other prompts', async () => {
    await sandbox.create({ ...aVideo, prompt: '[http:429:2]' });
    expect(jsonOf(await sandbox.create({ ...aVideo, prompt: 'plain [unknown:word]' }))).toHaveProperty('id');
  });

  test.each([
    ['[fail:capasity]', 'fail:capacity'],
    ['[fail:kapacity]', 'fail:capacity'],
    ['[lost-repli]', 'lost-reply'],
    ['[contents:json]', 'content:json'],
    ['[run:fast]', 'run:30s'],
  ])('%s is refused, and names [%s]', async (prompt, near) => {
    const { error } = jsonOf<{ readonly error: { readonly message: string } }>(
      await sandbox.create({ ...aVideo, prompt }),
    );
    expect(error.message).toContain(`Did you mean [${near}]?`);
  });

  test.each(['[a red kite]', '[well-lit]', '[Scene: night]', '[close-up]', '[no: 7]'])(
    '%s is a part of the prompt',
    async (prompt) => {
      expect(jsonOf(await sandbox.create({ ...aVideo, prompt }))).toHaveProperty('id');
    },
  );
});
