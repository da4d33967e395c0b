import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningTemporalServer, type StartTemporalServerOptions } from '@temporal-media/testing';
import { startTemporalServer } from '@temporal-media/testing';
import {
  acquireOwnerLock,
  LockHeldError,
  type OwnerLock,
} from 'temporal-media/internal/stores/files/owner-lock';
import { processIdentity } from 'temporal-media/internal/stores/files/this-machine';
import { type MediaConfig } from 'temporal-media/worker';
import { startChild, type Supervised, supervise } from '../shared/child-process';
import {
  type DevPorts,
  type DevSandbox,
  type DevState,
  readDevPorts,
  removeDevState,
  sandboxEnvironment,
  startDevSandbox,
  temporalEnvironment,
  writeDevPorts,
  writeDevState,
} from '../shared/dev-state';
import { CliError } from '../shared/errors';

/** The time that a worker has to drain, which includes finishing a create in flight (failure model: row 12). */
const WORKER_GRACE_MS = 90_000;
const SANDBOX_GRACE_MS = 10_000;

export interface RunningDev {
  readonly state: DevState;
  /** Resolves when the worker runs for the first time. */
  readonly workerRuns: Promise<void>;
  /** Resolves when the Temporal server exits unexpectedly. */
  readonly serverEnded: Promise<string>;
  /** Stops the worker, the sandbox and the server, in this order. */
  stop(): Promise<void>;
  /** Kills a worker whose drain takes too long. */
  killWorker(): void;
}

/**
 * Whether the queue's journal or store is missing. A person can fix this error while the server and the sandbox keep
 * running.
 */
const isMended = (error: unknown): boolean =>
  error instanceof CliError && error.reply.type === 'journal_binding';

/**
 * Starts a server, a sandbox (unless MEDIA_BASE_URL is set) and a worker, which share one data directory. If one of
 * them fails to start, everything is stopped. The exception is a worker whose journal or store is missing: its start is
 * retried.
 * @param rebind arguments that let the first worker take over the queue, such as `--rebind`
 */
export async function startDev(
  config: MediaConfig,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  rebind: readonly string[] = [],
): Promise<RunningDev> {
  const { dataDir } = config;
  if (config.baseUrl !== undefined) config.apiKey();
  // Inputs in the database contain prompts, so only the owner can read the folder.
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir);
  const undo: (() => Promise<void>)[] = [() => lock.release()];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    const ports = await readDevPorts(dataDir);
    const server = await startServer(dataDir, ports, env, say);
    undo.push(() => server.stop());
    const file = new StateFile(dataDir, await firstState(server, config));
    undo.push(() => removeDevState(dataDir));

    const inputs = join(dataDir, 'inputs');
    await mkdir(inputs, { recursive: true });
    let workerEnv: NodeJS.ProcessEnv = {
      ...temporalEnvironment(server, env, dataDir),
      MEDIA_DATA_DIR: dataDir,
      MEDIA_INPUT_ROOTS: env['MEDIA_INPUT_ROOTS'] || inputs,
    };
    let known: DevPorts = { ...ports, ...serverPorts(server) };
    if (config.baseUrl === undefined) {
      const sandbox = await supervise<DevSandbox>({
        name: 'sandbox',
        say,
        start: () => startDevSandbox({ dataDir, ports: known, env }),
        onStart: async (child) => {
          known = { ...known, ...sandboxPorts(child.ready) };
          await file.note({ sandbox: child.ready, pids: { sandbox: child.pid } });
        },
      });
      undo.push(() => sandbox.stop(SANDBOX_GRACE_MS));
      const { sandbox: ready } = file.state;
      if (ready !== null) workerEnv = { ...workerEnv, ...sandboxEnvironment(ready, env) };
    }
    await writeDevPorts(dataDir, known);

    const { worker, workerRuns } = await startWorker(dataDir, workerEnv, rebind, file, say);
    undo.push(() => worker.stop(WORKER_GRACE_MS));
    return {
      get state() {
        return file.state;
      },
      workerRuns,
      serverEnded: (server.exited ?? new Promise<never>(() => undefined)).then(
        ({ code, signal }) => signal ?? `exit code ${code}`,
      ),
      stop,
      killWorker: () => worker.kill(),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The running processes. They are also written to a file that other commands read. */
class StateFile {
  constructor(
    private readonly dataDir: string,
    public state: DevState,
  ) {}

  async note(change: Partial<DevState>): Promise<void> {
    this.state = { ...this.state, ...change, pids: { ...this.state.pids, ...change.pids } };
    await writeDevState(this.dataDir, this.state);
  }
}

/** @param rebind arguments for the first start only */
async function startWorker(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  rebind: readonly string[],
  file: StateFile,
  say: (line: string) => void,
): Promise<{ worker: Supervised<unknown>; workerRuns: Promise<void> }> {
  let more = rebind;
  let runs = (): void => undefined;
  const workerRuns = new Promise<void>((resolve) => (runs = resolve));
  const worker = await supervise({
    name: 'worker',
    say,
    isMended,
    start: () => {
      const args = ['worker', '--json', ...more];
      more = [];
      return startChild(args, { env, logFile: join(dataDir, 'logs', 'worker.log') });
    },
    onStart: async (child) => {
      await file.note({ pids: { worker: child.pid } });
      runs();
    },
  });
  return { worker, workerRuns };
}

async function lockDataDir(dataDir: string): Promise<OwnerLock> {
  try {
    return await acquireOwnerLock(join(dataDir, 'dev.lock'), { waitMs: 0 });
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    const message = `\`temporal-media dev\` is already running with this data directory (process ${error.ownerPid}).`;
    throw new CliError('dev_running', message);
  }
}

/** Reuses the last run's ports if they are free, so that the user's links and settings stay valid. */
async function startServer(
  dataDir: string,
  ports: DevPorts,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<RunningTemporalServer> {
  const options: StartTemporalServerOptions = { dataDir, ui: true, env, onProgress: say };
  if (ports.temporal === undefined || ports.ui === undefined) return startTemporalServer(options);
  try {
    return await startTemporalServer({ ...options, port: ports.temporal, ui: { port: ports.ui } });
  } catch (error) {
    if (!/^Port \d+ .* is in use/.test((error as Error).message)) throw error;
    say(`${(error as Error).message} Using other ports.`);
    return startTemporalServer(options);
  }
}

async function firstState(server: RunningTemporalServer, config: MediaConfig): Promise<DevState> {
  return {
    v: 1,
    pid: process.pid,
    identity: await processIdentity(process.pid),
    startedAt: new Date().toISOString(),
    address: server.address,
    namespace: server.namespace,
    uiUrl: server.uiUrl ?? null,
    retention: server.retention,
    taskQueue: config.taskQueue,
    sandbox: null,
    pids: server.pid === undefined ? {} : { server: server.pid },
  };
}

function serverPorts(server: RunningTemporalServer): DevPorts {
  if (!server.startedByUs || server.uiUrl === undefined) return {};
  return { temporal: portOf(`http://${server.address}`), ui: portOf(server.uiUrl) };
}

function sandboxPorts(sandbox: DevSandbox): DevPorts {
  return { sandbox: portOf(sandbox.url), media: portOf(sandbox.mediaUrl) };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
