import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnvironment } from 'temporal-media/internal/stores/files/this-machine';
import { probeNamespace, type ServerArguments, serverArguments } from './server-arguments';
import { type Environment, type ExecutableSource } from './server-source';

/** Settings for one launch. */
export interface Launch extends ServerArguments {
  readonly executable: ExecutableSource;
  readonly env: Environment;
  readonly logFile: string;
  readonly retentionSeconds: number;
  /** Called with the process id before waiting for the server. A rejection stops the server. */
  readonly onSpawn?: (pid: number) => Promise<void>;
}

/** A running server that answers gRPC calls. */
export interface LaunchedServer {
  readonly process: ServerProcess;
  readonly address: string;
  readonly retention: string;
}

/** A failed launch. After `slow` and `port`, another attempt may succeed. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  constructor(
    readonly kind: 'slow' | 'port' | 'ended',
    message: string,
  ) {
    super(message);
  }
}

const RETRY_MS = 50;
/** Maximum wait for the banner. A child that cannot bind the port ends much earlier. */
const BANNER_WAIT_MS = 3_000;

/**
 * Starts one server and waits until it answers gRPC calls with the requested namespace and retention.
 * @throws LaunchError when it ends early, cannot bind, or does not answer within `timeoutMs`; nothing is left running.
 */
export async function launchServer(launch: Launch, timeoutMs: number): Promise<LaunchedServer> {
  const address = `127.0.0.1:${launch.port}`;
  const child = await ServerProcess.spawn(
    launch.executable.path,
    serverArguments(launch),
    launch.env,
    launch.logFile,
  );
  try {
    await launch.onSpawn?.(child.pid);
    await untilItListens(child, launch.port, performance.now() + Math.min(timeoutMs, BANNER_WAIT_MS));
    const retention = await untilItAnswers(child, address, launch, performance.now() + timeoutMs);
    return { process: child, address, retention };
  } catch (error) {
    await child.stop('kill');
    throw error;
  }
}

/**
 * Waits until the server prints its port, which it does after binding it. Without this check, another server on the
 * same port could be mistaken for the child while the child is about to fail. If the line does not appear because its
 * wording is different, the wait ends at `until`.
 */
async function untilItListens(child: ServerProcess, port: number, until: number): Promise<void> {
  const banner = new RegExp(`^(Temporal )?Server:\\s+\\S+:${port}\\s*$`, 'm');
  while (performance.now() < until) {
    await throwIfEnded(child);
    if (banner.test(await child.log())) return;
    await delay(RETRY_MS);
  }
}

async function untilItAnswers(
  child: ServerProcess,
  address: string,
  launch: Launch,
  until: number,
): Promise<string> {
  for (;;) {
    await throwIfEnded(child);
    try {
      const retention = await probeNamespace(
        { address, namespace: launch.namespace },
        launch.retentionSeconds,
      );
      await throwIfEnded(child);
      return retention;
    } catch (error) {
      if (error instanceof LaunchError) throw error;
      if (performance.now() >= until)
        throw new LaunchError('slow', `it does not answer (${messageOf(error)})`);
    }
    await delay(RETRY_MS);
  }
}

async function throwIfEnded(child: ServerProcess): Promise<void> {
  if (child.isRunning) return;
  const { code, signal } = await child.exited;
  const log = (await child.log()).trim();
  const kind = /address already in use|only one usage of each socket/i.test(log) ? 'port' : 'ended';
  const last = log.split('\n').at(-1)?.slice(0, 300) ?? '';
  throw new LaunchError(kind, `it exited with ${signal ?? `exit code ${code}`}: ${last}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How a server ended. */
export interface ServerExit {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  /** Null if it ended on its own. */
  readonly signal: NodeJS.Signals | null;
}

/** Measured: the server ends 2.0 s after SIGTERM. */
const GRACE_MS = 15_000;

/** A `temporal server start-dev` that this process started. */
class ServerProcess {
  /** Resolves when the process has ended, for any reason. */
  readonly exited: Promise<ServerExit>;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #logOffset: number;

  private constructor(child: ChildProcess, guardian: Guardian, logFile: string, logOffset: number) {
    this.#child = child;
    this.#logFile = logFile;
    this.#logOffset = logOffset;
    this.exited = once(child, 'exit').then(([code, signal]) => {
      guardian.release();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
  }

  /**
   * Starts the executable and appends its output to `logFile`: a file instead of a pipe, so that a busy or dead parent
   * does not block the server.
   * @throws Error when the executable cannot be started.
   */
  static async spawn(
    executable: string,
    args: readonly string[],
    env: Environment,
    logFile: string,
  ): Promise<ServerProcess> {
    const log = await open(logFile, 'a', 0o600);
    try {
      const { size } = await log.stat();
      const child = spawn(executable, args, {
        env: childEnvironment(env, CLIENT_SETTINGS),
        // The server has its own process group, so that on Ctrl-C the workers drain before stop() ends the server.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        windowsHide: true,
      });
      await once(child, 'spawn');
      child.unref();
      return new ServerProcess(child, guard(child.pid ?? 0), logFile, size);
    } finally {
      await log.close();
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns this process's output, without the output of earlier ones in the same file. */
  async log(): Promise<string> {
    const { size } = await stat(this.#logFile);
    if (size <= this.#logOffset) return '';
    return (await readFile(this.#logFile)).subarray(this.#logOffset).toString('utf8');
  }

  /** Ends the process and waits for it; `kill` skips the graceful shutdown, for a server without a database file. */
  async stop(how: 'terminate' | 'kill'): Promise<void> {
    if (!this.isRunning) return;
    this.#child.ref();
    this.#child.kill(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
    const grace = new AbortController();
    const late = delay(GRACE_MS, 'late' as const, { signal: grace.signal }).catch(() => 'ended' as const);
    if ((await Promise.race([this.exited, late])) === 'late') this.#child.kill('SIGKILL');
    grace.abort();
    await this.exited;
  }
}

/**
 * TEMPORAL_* variables are meant for clients. Some, such as TEMPORAL_ENV and TEMPORAL_TLS, also change what the CLI
 * does.
 */
const CLIENT_SETTINGS = /^TEMPORAL_/;

/**
 * Runs in its own Node process. Its standard input is a pipe from the parent: a line means that the server has ended,
 * and a closed pipe without a line means that the parent has died.
 */
const SCRIPT = `
const pid = Number(process.argv[1]);
let released = false;
const kill = (signal) => { try { process.kill(pid, signal); return true; } catch { return false; } };
process.stdin.on('data', () => { released = true; process.exit(0); });
process.stdin.on('close', () => {
  if (released || !kill('SIGTERM')) process.exit(0);
  setTimeout(() => { kill('SIGKILL'); process.exit(0); }, 10000);
  setInterval(() => { if (!kill(0)) process.exit(0); }, 100);
});`;

/** Ends a child that must not outlive this process. */
interface Guardian {
  /** Ends the guardian without a signal to the child, which has already ended. */
  release(): void;
}

/**
 * Stops the process `pid` (SIGTERM, after 10 s SIGKILL) when this process ends without calling `release`, even by
 * SIGKILL. The operating system closes the pipe in every case, so no heartbeat is needed.
 */
export function guard(pid: number): Guardian {
  const child = spawn(process.execPath, ['-e', SCRIPT, String(pid)], {
    // The guardian has its own process group, so that Ctrl-C in a terminal does not end it first.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'] },
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  // The pipe must not keep the event loop alive.
  (child.stdin as unknown as { unref?: () => void }).unref?.();
  return { release: () => child.stdin.end('released\n') };
}
