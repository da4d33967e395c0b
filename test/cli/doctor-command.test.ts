import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { writeDevState } from '../../packages/cli/src/shared/dev-state';
import { processIdentity } from '../../src/stores/files/this-machine';
import { lackingIn } from '../../src/worker/temporal-server-version';
import { type CliBench, openCliBench } from './support/cli-bench';
import { expectNothingBought, runDoctor, startPolledWorker } from './support/doctor-run';
import { runCli, startCli } from './support/run-cli';

const ROOT = path.resolve(__dirname, '..', '..');
/** Every check in its order. */
const ALL = [
  ...['node', 'sdk', 'settings', 'temporal', 'namespace', 'proxy', 'models', 'service'],
  ...['artifacts', 'journal', 'binding', 'workers', 'payloads', 'waiting'],
];

describe('temporal-media doctor', () => {
  let bench: CliBench;
  /** A server before 1.29 lacks what the package can do without. */
  let isWarned = false;
  beforeAll(async () => {
    bench = await openCliBench();
    const { serverVersion } = await bench.server.client.workflowService.getSystemInfo({});
    isWarned = lackingIn(serverVersion).length > 0;
    await startPolledWorker(bench);
  });
  afterEach(() => expectNothingBought(bench));
  afterAll(() => bench.close());

  describe('a set-up that works', () => {
    test('exit code 0: every check is ok, the key is shown nowhere', async () => {
      const { code, checks, summary, text } = await runDoctor(bench.workerEnv);
      expect(Object.keys(checks)).toEqual(ALL);
      expect(Object.values(checks).map((check) => check?.state)).toEqual(
        ALL.map((name) => (name === 'temporal' && isWarned ? 'warning' : 'ok')),
      );
      expect([code, summary]).toEqual([0, 'Videos can be created now.']);
      expect(checks['temporal']?.message).toMatch(/\d+\.\d+\.\d+.* \(from TEMPORAL_ADDRESS\)/);
      expect(text).not.toContain('sandbox-key');
      expect(text).not.toContain(bench.dir);
      const [asked] = await bench.sandbox.admin.requests({ operation: 'poll' });
      expect(asked).toMatchObject({ authorization: 'valid', status: 404 });
    });

    test('a machine without key and base address: exit code 0 because a worker polls, and says what it cannot see', async () => {
      const { code, checks, summary } = await runDoctor(bench.clientEnv);
      const unseen = ['proxy', 'models', 'service', 'journal', 'binding'];
      expect(ALL.filter((name) => checks[name]?.state === 'skipped')).toEqual(unseen);
      expect([code, checks['workers']?.state]).toEqual([0, 'ok']);
      expect(summary).toContain(`Not checked: ${unseen.join(', ')}`);
    });

    test('such a machine without the artifact store of the worker is warned', async () => {
      const MEDIA_ARTIFACTS = path.join(bench.dir, 'none');
      const { code, checks } = await runDoctor({ ...bench.clientEnv, MEDIA_ARTIFACTS });
      expect(code).toBe(0);
      const store = checks['artifacts'];
      expect(store?.state).toBe('warning');
      expect(store?.state === 'warning' && store.remedy).toContain('MEDIA_ARTIFACTS');
    });

    test('`dev` of the data directory is found with its server, queue and sandbox', async () => {
      const { server, sandbox, clientEnv } = bench;
      const dataDir = clientEnv['MEDIA_DATA_DIR'] ?? '';
      await writeDevState(dataDir, {
        v: 1,
        pid: process.pid,
        identity: await processIdentity(process.pid),
        startedAt: new Date().toISOString(),
        address: server.address,
        namespace: server.namespace,
        uiUrl: null,
        retention: '1 day',
        taskQueue: clientEnv['MEDIA_TASK_QUEUE'] ?? '',
        sandbox: {
          url: sandbox.url,
          mediaUrl: sandbox.mediaUrl,
          modelsUrl: sandbox.modelsUrl,
          adminUrl: sandbox.adminUrl,
        },
        pids: {},
      });
      const found = await runDoctor({ MEDIA_DATA_DIR: dataDir });
      const other = await runDoctor({ MEDIA_DATA_DIR: dataDir, MEDIA_TASK_QUEUE: 'typo' });
      await rm(path.join(dataDir, 'dev.json'));
      expect([found.code, found.checks['settings']?.message]).toEqual([
        0,
        'service from the sandbox of `temporal-media dev`, key from MEDIA_API_KEY',
      ]);
      expect([other.code, other.error?.type]).toEqual([69, 'no_worker']);
      expect(other.error?.hint).toContain(`polls "${clientEnv['MEDIA_TASK_QUEUE']}"`);
    });

    test('as text: one line per check on stdout, a last line; -o jsonl: one event per check', async () => {
      const { code, stdout } = await runCli(['doctor'], bench.workerEnv);
      const lines = stdout.trimEnd().split('\n');
      // A warning has a second line, with its remedy.
      const count = ALL.length + (isWarned ? 2 : 1);
      expect([code, lines.length, lines.at(-1)]).toEqual([0, count, 'Videos can be created now.']);
      expect(lines[3]).toMatch(
        isWarned ? /^warn Temporal server {2}Version/ : /^ok {3}Temporal server {2}\d/,
      );
      const jsonl = await runCli(['doctor', '-o', 'jsonl'], bench.workerEnv);
      const events = jsonl.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; name?: string });
      expect(events.map(({ type }) => type)).toEqual([...ALL.map(() => 'check'), 'result']);
      expect(new Set(events.flatMap(({ name }) => name ?? []))).toEqual(new Set(ALL));
    });

    test('leaves nothing behind where nothing was', async () => {
      const MEDIA_DATA_DIR = path.join(bench.dir, 'fresh');
      const queue = bench.server.uniqueId('cli');
      const env = { ...bench.workerEnv, MEDIA_DATA_DIR, MEDIA_TASK_QUEUE: queue };
      const { failed, checks } = await runDoctor(env);
      expect(failed).toEqual(['workers']);
      expect(checks['binding']?.message).toContain('the first worker will bind');
      expect(existsSync(MEDIA_DATA_DIR)).toBe(false);
    });
  });

  test('a worker for activities alone: no worker for workflows', async () => {
    const taskQueue = bench.server.uniqueId('cli');
    const connection = await NativeConnection.connect({ address: bench.server.address });
    const activities = { nothing: async () => undefined };
    const { namespace } = bench.server;
    const worker = await Worker.create({ connection, namespace, taskQueue, activities });
    const run = await worker.runUntil(async () => {
      for (;;) {
        const found = await runDoctor({ ...bench.clientEnv, MEDIA_TASK_QUEUE: taskQueue });
        // Until its first poll has arrived.
        if (!found.error?.message.startsWith('No worker is polling task queue "' + taskQueue + '".'))
          return found;
      }
    });
    await connection.close();
    expect([run.code, run.error?.type]).toEqual([69, 'no_worker']);
    expect(run.error?.message).toMatch(/for workflows\.$/);
  });

  test('two copies of the SDK in the application: the versions, and no path', async () => {
    const modules = path.join(bench.dir, 'app', 'node_modules');
    const copy = path.join(modules, '@temporalio', 'common');
    await mkdir(copy, { recursive: true });
    await writeFile(path.join(copy, 'package.json'), '{"name": "@temporalio/common", "version": "1.23.7"}');
    await writeFile(path.join(copy, 'index.js'), '');
    const cwd = path.join(bench.dir, 'app');
    const alone = await runDoctor(bench.workerEnv, cwd);
    expect(alone.code).toBe(0);
    await symlink(ROOT, path.join(modules, 'temporal-media'));
    const run = await runDoctor(bench.workerEnv, cwd);
    expect([run.failed, run.code, run.error?.type]).toEqual([['sdk'], 78, 'two_sdk_copies']);
    expect(run.error?.message).toContain('the application loads 1.23.7');
    expect(run.error?.hint).toContain('npm dedupe');
    expect(run.text).not.toContain(bench.dir);
  });

  test('several failures: all are shown, the first in order decides the exit code', async () => {
    const { code, stdout, stderr } = await startCli(['doctor'], {
      ...bench.workerEnv,
      TEMPORAL_NAMESPACE: 'no-such-namespace',
      MEDIA_MODELS: path.join(bench.dir, 'no-models.json'),
      MEDIA_API_KEY: '',
    }).ended;
    expect(code).toBe(78);
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.startsWith('FAIL')).map((line) => line.split(/ +/)[1])).toEqual([
      'Settings',
      'Namespace',
      'Models',
    ]);
    const settings = lines.findIndex((line) => line.startsWith('FAIL Settings'));
    expect(lines[settings + 1]).toMatch(/^ {10,}Fix MEDIA_API_KEY/);
    expect(stdout).toContain('skip Service          Not checked: `settings` must pass first.');
    expect(stdout).toContain('3 of 14 checks failed (settings, namespace, models)');
    // The lines on stdout have said it, with the remedies.
    expect(stderr).toBe('');
  });
});
