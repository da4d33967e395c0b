import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CliBench, openCliBench } from '../cli/support/cli-bench';
import { runCli, runJson } from '../cli/support/run-cli';
import { canary, CanarySearch } from '../support/canary';
import { type Receiver, SECRET, startReceiver, status, TAKE } from './support/receiver';

const PROMPT = canary('prompt', 'Cm4dk');

describe('the command line with MEDIA_NOTIFY', () => {
  let bench: CliBench;
  let receiver: Receiver;
  let file: string;
  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 0 } });
    receiver = await startReceiver();
    file = path.join(bench.dir, 'notify.json');
    await writeFile(path.join(bench.dir, 'secret'), SECRET);
    const endpoint = { url: receiver.url, secretFile: 'secret', allowPrivate: true };
    await writeFile(file, JSON.stringify({ version: 1, endpoints: [endpoint] }));
  });
  afterAll(async () => {
    await bench.close();
    await receiver.close();
  });
  const video = (id: string, env: NodeJS.ProcessEnv) =>
    runJson(
      ['video', '--model', 'sketch-lite', '--prompt', PROMPT.value, '--id', id, '--out', bench.dir],
      env,
    );

  it('a worker sends notices, stops with them, and logs no prompt, key or address', async () => {
    const env = { ...bench.workerEnv, MEDIA_NOTIFY: file };
    receiver.answer = (response, notice, attempt) =>
      (attempt === 1 ? status(503, { 'retry-after': '1' }) : TAKE)(response, notice, attempt);
    const worker = await bench.startWorker(env);
    const id = bench.server.uniqueId('told');
    expect((await video(id, env)).code).toBe(0);
    await receiver.until('call.ended', (data) => data['id'] === id);
    expect(receiver.taken('call.ended')).toHaveLength(1);
    worker.child.kill('SIGTERM');
    const { code, stderr, stdout } = await worker.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('Sending notices to the endpoints in MEDIA_NOTIFY');
    expect(stderr).toContain('An endpoint did not take a notice; it will be sent again');
    const search = new CanarySearch([
      PROMPT,
      { name: 'key', value: 'sandbox-key', core: 'sandbox-key' },
      { name: 'address', value: receiver.url, core: 't0ken-of-the-hook' },
      { name: 'secret', value: SECRET, core: SECRET.slice(6) },
    ]);
    expect(search.hits(Buffer.from(`${stderr}${stdout}`))).toEqual([]);
  });

  it('an unusable MEDIA_NOTIFY is logged, and never keeps a worker from paid work', async () => {
    const bad = path.join(bench.dir, 'bad.json');
    await writeFile(bad, '{"version": 1, "endpoints": [{"url": "https://hooks.example.com/s3cret"}]}');
    const env = { ...bench.workerEnv, MEDIA_NOTIFY: bad };
    const worker = await bench.startWorker(env);
    const line = worker.untilLine('stderr', /No notices are sent/);
    expect((await video(bench.server.uniqueId('untold'), env)).code).toBe(0);
    await line;
    worker.child.kill('SIGTERM');
    const { stderr } = await worker.ended;
    expect(stderr).toMatch(/endpoints\[0\]\.secretFile/);
    expect(stderr).not.toContain('s3cret');
    const { reply } = await runJson(['doctor'], env);
    const checks = reply.data?.['checks'] as readonly { readonly name: string; readonly state: string }[];
    expect(checks.find(({ name }) => name === 'settings')).toMatchObject({ state: 'warning' });
  });

  it('notices test sends one signed notice to each endpoint', async () => {
    receiver.answer = TAKE;
    const env = { ...bench.clientEnv, MEDIA_NOTIFY: file };
    const { code, stdout } = await runCli(['notices', 'test'], env);
    expect([code, stdout]).toEqual([0, expect.stringContaining('It took the test notice.')]);
    expect(stdout).not.toContain('t0ken-of-the-hook');
    expect(receiver.taken('notices.test')).toHaveLength(1);
    receiver.answer = status(401);
    const refused = await runJson(['notices', 'test'], env);
    expect([refused.code, refused.reply.error?.type]).toEqual([69, 'service_unreachable']);
    expect(refused.reply.data).toMatchObject({
      endpoints: [{ taken: false, message: 'It answered with HTTP 401.' }],
    });
    const unset = await runJson(['notices', 'test'], bench.clientEnv);
    expect([unset.code, unset.reply.error?.type]).toEqual([78, 'configuration']);
  });
});
