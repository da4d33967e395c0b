import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ContractBench, openBench } from './contract-bench';

/** Keys of test services are words, and words stand in ids: what is paid must stay reachable. */
describe('keys that are words', () => {
  const LONG = 'a-key-that-is-no-word';
  const KEYS = ['vid', 'test', 'o_', 'production'];
  let key = 'vid';
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ apiKey: () => key, sandbox: { apiKeys: [...KEYS, LONG] } });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  const journal = async () => {
    const root = join(bench.root, 'journal');
    const names = await readdir(root, { recursive: true });
    const files = names.filter((name) => name.endsWith('.entry'));
    const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')));
    return texts.filter((text) => (JSON.parse(text) as { kind: string }).kind === 'answer').join('\n');
  };
  const createdAs = async (id: string) => {
    await bench.fault('create', { type: 'accept_then_status', status: 200, body: { id, status: 'queued' } });
    return bench.create({ durationSeconds: 2 });
  };

  test('[C2.2.1] [C4.4b] a paid video_… is kept, polled and downloaded under the key "vid"', async () => {
    key = 'vid';
    const { video } = await bench.created({ durationSeconds: 2 });
    expect(video.taskId).toMatch(/^video_/);
    expect(await journal()).toContain(`"${video.taskId}"`);
    expect(await bench.poll(video)).toMatchObject({ record: { status: 'completed' } });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
    expect((await bench.admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  test.each(
    KEYS.flatMap((word) => [
      [word, `task-${word}-9f`],
      [word, `${word}7`],
      [word, `a${Buffer.from(word).toString('hex')}0`],
      [word, `a-${Buffer.from(word).toString('base64url')}-0`],
    ]),
  )('[C2.2.1] [C4.4b] under the key %j the id %j is kept', async (word, id) => {
    key = word;
    expect(await createdAs(id)).toMatchObject({ outcome: 'created', video: { taskId: id } });
    expect(await journal()).toContain(JSON.stringify(id));
  });

  test.each([
    ['the word itself', 'test', 'test'],
    ['the word in hex', 'test', Buffer.from('test').toString('hex')],
    ['a key that is no word, within', LONG, `task-${LONG}-1`],
    ['a key that is no word, in Base64 within', LONG, `a-${Buffer.from(LONG).toString('base64url')}-1`],
  ])('[C5.4a] %s is no id: nobody names a task by a key', async (_what, used, id) => {
    key = used;
    expect(await createdAs(id)).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'reply_without_id' },
    });
    expect(await journal()).not.toContain(JSON.stringify(id));
  });
});
