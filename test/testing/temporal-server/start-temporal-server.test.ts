import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import {
  resolveTemporalServer,
  type RunningTemporalServer,
  startTemporalServer,
  type StartTemporalServerOptions,
} from '../../../packages/testing/src/temporal-server';
import { processIdentity } from '../../../src/stores/files/this-machine';
import { fakeHome } from './fake-commands';

const ROOT = path.resolve(__dirname, '..', '..', '..');

describe('startTemporalServer', () => {
  let dir: string;
  const running: RunningTemporalServer[] = [];
  const start = async (options: StartTemporalServerOptions = {}): Promise<RunningTemporalServer> => {
    // A server that the environment names is another test's topic.
    const env = { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined };
    const server = await startTemporalServer({ env, ...options });
    running.push(server);
    return server;
  };
  const withClient = async <R>(
    server: RunningTemporalServer,
    use: (client: Client) => Promise<R>,
  ): Promise<R> => {
    const connection = await Connection.connect({ address: server.address });
    try {
      return await use(new Client({ connection, namespace: server.namespace }));
    } finally {
      await connection.close();
    }
  };
  const goneOf = async (pid: number): Promise<void> => {
    // The process is nobody's child any more: there is no event to wait for.
    while ((await processIdentity(pid)) !== null) await delay(50);
  };

  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-start-'));
  });
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test('what was started is still there after a stop and a start on the same directory and port', async () => {
    const options = { dataDir: path.join(dir, 'data'), searchAttributes: { MediaTest: 'Keyword' as const } };
    const first = await start(options);
    const { pid = 0, address, retention } = first;
    expect({ retention, ours: first.startedByUs }).toEqual({ retention: '72h', ours: true });
    await withClient(first, (client) =>
      client.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody', args: [] }),
    );
    await first.stop();
    expect(await processIdentity(pid)).toBeNull();

    const second = await start({ ...options, port: Number(address.split(':')[1]), retention: '5d' });
    expect(second.address).toBe(address);
    const { status, retention: seen } = await withClient(second, async (client) => {
      const { config } = await client.workflowService.describeNamespace({ namespace: 'default' });
      const description = await client.workflow.getHandle('kept').describe();
      return {
        status: description.status.name,
        retention: Number(config?.workflowExecutionRetentionTtl?.seconds),
      };
    });
    expect({ status, seen }).toEqual({ status: 'RUNNING', seen: 5 * 86_400 });
    expect(second.retention).toBe('120h');
  });

  test('a directory that a living server uses is refused', async () => {
    const dataDir = path.join(dir, 'data');
    const first = await start({ dataDir });
    await expect(start({ dataDir })).rejects.toThrow(`in use by process ${first.pid}`);
  });

  test('namespace, search attributes, dynamic configuration, log file and UI are as asked', async () => {
    const logFile = path.join(dir, 'server.log');
    const server = await start({
      namespace: 'media-test',
      searchAttributes: { MediaTest: 'Keyword' },
      dynamicConfig: { 'limit.maxIDLength': '300' },
      logFile,
      ui: true,
    });
    await withClient(server, async (client) => {
      const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
        namespace: 'media-test',
      });
      expect(Object.keys(customAttributes)).toContain('MediaTest');
      const startWith = (length: number): Promise<unknown> =>
        client.workflow.start('anything', { workflowId: 'x'.repeat(length), taskQueue: 'nobody', args: [] });
      await startWith(300);
      await expect(startWith(301)).rejects.toThrow();
    });
    expect(await readFile(logFile, 'utf8')).toContain('Server');
    expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
  });

  test('a port that is taken is refused before anything is started', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(start({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`);
    other.close();
  });

  test('a port lost between the look and the bind is tried again on another one', async () => {
    const real = await resolveTemporalServer({
      env: { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined },
    });
    if (real.kind !== 'executable') throw new Error('this test needs a CLI');
    const file = path.join(dir, 'loses-once');
    const code = `#!/bin/sh
echo "$@" >> '${dir}/calls'
[ $(wc -l < '${dir}/calls') -gt 1 ] || { echo 'listen tcp: bind: address already in use' >&2; exit 1; }
exec '${real.path}' "$@"
`;
    await writeFile(file, code, { mode: 0o755 });
    const lines: string[] = [];
    const server = await start({ source: { ...real, path: file }, onProgress: (line) => lines.push(line) });
    const calls = (await readFile(path.join(dir, 'calls'), 'utf8')).trim().split('\n');
    expect(calls).toHaveLength(2);
    expect(calls[1]).toContain(`--port ${server.address.split(':')[1]}`);
    expect(lines).toEqual([expect.stringMatching(/did not start .*address already in use.*; retrying/)]);
  });

  test('an executable that ends at once is reported with its last words', async () => {
    const home = await fakeHome();
    const file = await home.script('broken', 'console.error("cannot open the database"); process.exit(4);');
    const source = { kind: 'executable', path: file, version: '1', foundBy: 'TEMPORAL_CLI_PATH' } as const;
    await expect(start({ source })).rejects.toThrow('exited with exit code 4: cannot open the database');
    await home.remove();
  });

  test('a server that we did not start is used with its own retention and not stopped', async () => {
    const server = await start({ retention: '9d' });
    const env = { TEMPORAL_ADDRESS: server.address };
    const attached = await startTemporalServer({ env, retention: '1d' });
    expect(attached).toMatchObject({ address: server.address, startedByUs: false, retention: '216h' });
    expect(attached.pid).toBeUndefined();
    await attached.stop();
    await expect(
      withClient(server, (client) => client.workflowService.getSystemInfo({})),
    ).resolves.toBeDefined();
    await expect(startTemporalServer({ env, namespace: 'no-such' })).rejects.toThrow(
      /TEMPORAL_ADDRESS.*no-such/,
    );
  });

  test('a server whose starter is killed ends too, and its data directory is free again', async () => {
    const dataDir = path.join(dir, 'data');
    const starter = spawn(process.execPath, ['-e', STARTER, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: starter.stdout });
    const [pid] = (await once(lines, 'line')) as [string];
    starter.kill('SIGKILL');
    await goneOf(Number(pid));
    const next = await start({ dataDir });
    expect(next.retention).toBe('72h');
  });

  test('a starter that has nothing else to do ends by itself, and so does the server', async () => {
    const starter = spawn(process.execPath, ['-e', STARTER], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [[pid], [code]] = (await Promise.all([
      once(createInterface({ input: starter.stdout }), 'line'),
      once(starter, 'exit'),
    ])) as [[string], [number]];
    expect(code).toBe(0);
    await goneOf(Number(pid));
  });
});

/** Runs the package as it is published. With a data directory it stays, without one it has nothing left to do. */
const STARTER = `
const { startTemporalServer } = require(${JSON.stringify(path.join(ROOT, 'packages', 'testing', 'lib', 'temporal-server'))});
const [dataDir] = process.argv.slice(1);
delete process.env.TEMPORAL_ADDRESS;
startTemporalServer(dataDir ? { dataDir } : {}).then((server) => {
  console.log(server.pid);
  if (dataDir) setInterval(() => undefined, 1000);
});`;
