import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DevState, readDevState } from '../../packages/cli/src/shared/dev-state';
import { SandboxAdmin } from '../../packages/sandbox/src';
import { processIdentity } from '../../src/stores/files/this-machine';
import { type CliProcess, runCli, runJson, startCli } from './support/run-cli';

describe('temporal-media dev', () => {
  let dir: string;
  let env: NodeJS.ProcessEnv;
  const running: CliProcess[] = [];

  const startDev = async (): Promise<{ dev: CliProcess; state: DevState }> => {
    const dev = startCli(['dev', '--json'], env);
    running.push(dev);
    await dev.untilLine('stdout', /"ok":true/);
    const state = await readDevState(env['MEDIA_DATA_DIR'] ?? '');
    if (state === undefined) throw new Error('dev is ready, but dev.json does not say so');
    return { dev, state };
  };
  const pidsOf = ({ pid, pids }: DevState): number[] => [pid, ...Object.values<number>({ ...pids })];
  const untilGone = async (pids: readonly number[]): Promise<void> => {
    for (const pid of pids) while ((await processIdentity(pid)) !== null);
  };

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-dev-'));
    env = { MEDIA_DATA_DIR: path.join(dir, 'data') };
  });
  afterAll(async () => {
    for (const dev of running) dev.child.kill('SIGTERM');
    await Promise.all(running.map((dev) => dev.ended));
    await rm(dir, { recursive: true, force: true });
  });

  test('goes on where it was after a SIGKILL of everything in the middle of a wait', async () => {
    const { dev, state } = await startDev();
    expect(pidsOf(state)).toHaveLength(4);
    expect(JSON.stringify(state)).not.toContain('key');

    const second = await runJson(['dev'], env);
    expect(second.code).toBe(78);
    expect(second.reply.error).toMatchObject({ type: 'dev_running' });
    expect(second.reply.error?.message).toContain(String(state.pid));

    const args = [
      'video',
      '--model',
      'sketch-lite',
      '--prompt',
      'a ferry [run:8s]',
      '--id',
      'ferry',
      '--detach',
    ];
    expect(await runCli(args, env)).toMatchObject({ code: 0, stdout: 'ferry\n' });
    const waiting = startCli(['resume', 'ferry', '--out', dir], env);
    await waiting.untilLine('stderr', /^task .*(queued|in_progress)/);
    waiting.child.kill('SIGINT');
    await waiting.ended;

    for (const pid of pidsOf(state)) process.kill(pid, 'SIGKILL');
    await dev.ended;
    await untilGone(pidsOf(state));
    expect(await readDevState(env['MEDIA_DATA_DIR'] ?? '')).toBeUndefined();

    const { state: again } = await startDev();
    expect(again.sandbox).toEqual(state.sandbox);
    expect(again.address).toBe(state.address);
    const { code, reply } = await runJson(['resume', 'ferry', '--out', dir], env);
    expect([code, reply.data?.files]).toEqual([0, [path.join(dir, 'ferry.mp4')]]);
    const admin = new SandboxAdmin(again.sandbox?.adminUrl ?? '');
    expect(await admin.counters()).toMatchObject({ creates: { received: 1, accepted: 1 } });
  });

  test('a worker that dies alone is started again; the server stays', async () => {
    const dev = running.at(-1);
    const before = await readDevState(env['MEDIA_DATA_DIR'] ?? '');
    if (dev === undefined || before?.pids.worker === undefined) throw new Error('no dev is running');
    process.kill(before.pids.worker, 'SIGKILL');
    await dev.untilLine('stderr', /The worker is running again/);
    const after = await readDevState(env['MEDIA_DATA_DIR'] ?? '');
    expect(after?.pids).toEqual({ ...before.pids, worker: after?.pids.worker });
    expect(after?.pids.worker).not.toBe(before.pids.worker);
    const model = ['--model', 'image-2', '--prompt', 'x', '--size', '512x512', '--out', dir];
    expect((await runJson(['image', ...model], env)).code).toBe(0);
  });

  test('SIGTERM stops everything that it started; commands then say what to do', async () => {
    const dev = running.at(-1);
    const state = await readDevState(env['MEDIA_DATA_DIR'] ?? '');
    if (dev === undefined || state === undefined) throw new Error('no dev is running');
    dev.child.kill('SIGTERM');
    const { code, stdout } = await dev.ended;
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(await Promise.all(pidsOf(state).map((pid) => processIdentity(pid)))).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(existsSync(path.join(dir, 'data', 'dev.json'))).toBe(false);
    const log = await readFile(path.join(dir, 'data', 'logs', 'worker.log'), 'utf8');
    expect(log).toContain('Draining');
  });

  test('a store that is lost: it stays up, says so, and --rebind is its way out', async () => {
    const artifacts = path.join(dir, 'data', 'artifacts');
    await rename(artifacts, `${artifacts}-away`);
    const dev = startCli(['dev', '--json'], env);
    running.push(dev);
    await dev.untilLine('stderr', /The worker failed: .*lost or emptied and then re-created/);
    await dev.untilLine('stderr', /No worker is running: .*`temporal-media dev --rebind`/);
    // What was lost is there again: no new start is needed.
    await rm(artifacts, { recursive: true, force: true });
    await rename(`${artifacts}-away`, artifacts);
    // Nobody who waits for it is told that it is ready before.
    await dev.untilLine('stdout', /"ok":true/);
    dev.child.kill('SIGTERM');
    const { stderr } = await dev.ended;
    expect(stderr.indexOf('No worker is running')).toBeLessThan(stderr.indexOf('Ready:'));

    await rm(artifacts, { recursive: true });
    const asked = await runCli(['dev', '--rebind'], env);
    expect([asked.code, asked.stderr]).toEqual([
      6,
      expect.stringMatching(/what a rebind gives up: .*worker\.log/),
    ]);
    expect(await readFile(path.join(dir, 'data', 'logs', 'worker.log'), 'utf8')).toContain('gives up');
    const agreed = startCli(['dev', '--rebind', '--yes', '--json'], env);
    running.push(agreed);
    await agreed.untilLine('stderr', /Ready:/);
  });
});
