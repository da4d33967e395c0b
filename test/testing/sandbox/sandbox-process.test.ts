import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startSandboxProcess, type SandboxProcess } from '../../../packages/sandbox/src';
import { jsonOf, postJson, rawCall } from './raw-call';
import { aVideo } from './running-sandbox';

const options = { timing: { queuedMs: 0, runningMs: 0 } };

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a sandbox process', () => {
  let dataDir: string;
  let running: SandboxProcess[] = [];
  const start = async (more = {}): Promise<SandboxProcess> => {
    const started = await startSandboxProcess({ ...options, ...more });
    running.push(started);
    return started;
  };
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.close()));
    running = [];
    await rm(dataDir, { recursive: true, force: true });
  });

  test('ends on close', async () => {
    const sandbox = await start();
    expect(isAlive(sandbox.pid)).toBe(true);
    expect((await postJson(`${sandbox.url}/v1/videos`, aVideo)).status).toBe(200);
    await sandbox.close();
    expect(isAlive(sandbox.pid)).toBe(false);
  });

  test('[C5.4a] gets no secret of the user', async () => {
    const secrets = { MEDIA_API_KEY: 'canary-media', AWS_SECRET_ACCESS_KEY: 'canary-aws' };
    const before = { ...process.env };
    Object.assign(process.env, secrets, { PGPASSWORD: 'canary-pg', TEMPORAL_API_KEY: 'canary-temporal' });
    const sandbox = await start().finally(() => {
      process.env = before;
    });
    // Only Linux shows the environment of a process.
    const file = `/proc/${sandbox.pid}/environ`;
    if (process.platform === 'linux') expect(await readFile(file, 'utf8')).not.toContain('canary');
  });

  test('tasks, results, links and accepted counters survive a kill', async () => {
    const first = await start({ dataDir });
    const created = jsonOf(await postJson(`${first.url}/v1/videos`, aVideo));
    const content = await rawCall(`${first.url}/v1/videos/${String(created.id)}/content`);
    const link = String(content.headers.location);
    const video = await rawCall(link, { key: null });
    const generation = { model: 'image-2', prompt: 'a tree', size: '512x512', n: 2 };
    const images = jsonOf<{ data: { url: string }[] }>(
      await postJson(`${first.url}/v1/images/generations`, generation),
    );
    const image = await rawCall(String(images.data[1]?.url));
    process.kill(first.pid, 'SIGKILL');
    await first.close();

    const second = await start({ dataDir });
    const moved = (url: string, from: string, to: string): string => url.replace(from, to);
    expect(await second.admin.counters()).toMatchObject({
      creates: { accepted: 1 },
      images: { accepted: 1, results: 2 },
      acceptedByModel: { 'cine-1': 1, 'image-2': 1 },
    });
    const record = jsonOf(await rawCall(`${second.url}/v1/videos/${String(created.id)}`));
    expect(record).toMatchObject({ id: created.id, status: 'completed' });
    const again = await rawCall(moved(link, first.mediaUrl, second.mediaUrl), { key: null });
    expect(again.body).toEqual(video.body);
    expect(again.headers.etag).toBe(video.headers.etag);
    const imageAgain = await rawCall(moved(String(images.data[1]?.url), first.url, second.url));
    expect(imageAgain.body).toEqual(image.body);
  });

  test('all counters survive a graceful end, and every request is in requests.jsonl', async () => {
    const first = await start({ dataDir });
    const id = String(jsonOf(await postJson(`${first.url}/v1/videos`, aVideo)).id);
    await rawCall(`${first.url}/v1/videos/${id}`);
    await first.admin.patchTask(id, { status: 'failed', failure: { error: 'late' } });
    await first.close();
    const lines = (await readFile(join(dataDir, 'requests.jsonl'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { operation: string }).operation)).toEqual([
      'create',
      'poll',
    ]);
    const second = await start({ dataDir });
    expect((await second.admin.counters()).operations.poll).toMatchObject({ received: 1, accepted: 1 });
    expect(jsonOf(await rawCall(`${second.url}/v1/videos/${id}`))).toMatchObject({
      status: 'failed',
      error: 'late',
    });
  });

  test('ends when the process that started it is killed', async () => {
    const entry = join(__dirname, '../../../packages/sandbox/lib');
    const script = `require(${JSON.stringify(entry)}).startSandboxProcess().then((one) => console.log(one.url))`;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [url] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    parent.kill('SIGKILL');
    await once(socket.resume(), 'close');
  });

  test('reads faults from a file', async () => {
    const faultFile = join(dataDir, 'faults.json');
    await writeFile(
      faultFile,
      JSON.stringify([{ operation: 'create', action: { type: 'status', status: 503 } }]),
    );
    const sandbox = await start({ faultFile });
    expect((await postJson(`${sandbox.url}/v1/videos`, aVideo)).status).toBe(503);
  });

  test('a start that fails is reported', async () => {
    const port = Number(new URL((await start()).url).port);
    await expect(start({ port })).rejects.toThrow('before it was listening');
  });
});
