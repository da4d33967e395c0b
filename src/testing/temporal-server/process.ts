import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Environment, type ExecutableSource } from './resolve';
import { probeNamespace, type ServerArguments, serverArguments } from './start';

/** Everything that one launch needs. */
export interface Launch extends ServerArguments {
  readonly executable: ExecutableSource;
  readonly env: Environment;
  readonly logFile: string;
  readonly retentionSeconds: number;
  /** Called before the server is waited for; a rejection stops it. */
  readonly onSpawn?: (pid: number) => Promise<void>;
}

/** A server that answers. */
export interface LaunchedServer {
  readonly process: ServerProcess;
  readonly address: string;
  readonly retention: string;
}

/** Why a launch gave no server; `slow` and `port` are worth another try. */
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
/** A child that could not bind the port has ended long before this. */
const BANNER_PATIENCE_MS = 3_000;

/**
 * Starts one server and waits until it answers gRPC with the namespace and retention that were asked for.
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
    await untilItListens(child, launch.port, Date.now() + Math.min(timeoutMs, BANNER_PATIENCE_MS));
    const retention = await untilItAnswers(child, address, launch, Date.now() + timeoutMs);
    return { process: child, address, retention };
  } catch (error) {
    await child.stop('kill');
    throw error;
  }
}

/**
 * The server prints its port after it has bound it. Without that line a foreign server on the same port could be
 * taken for ours while our child is still about to fail; another wording is accepted after a while.
 */
async function untilItListens(child: ServerProcess, port: number, until: number): Promise<void> {
  const banner = new RegExp(`^(Temporal )?Server:\\s+\\S+:${port}\\s*$`, 'm');
  while (Date.now() < until) {
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
      if (Date.now() >= until) throw new LaunchError('slow', `it does not answer (${messageOf(error)})`);
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
  throw new LaunchError(kind, `it ended with ${signal ?? `exit code ${code}`}: ${last}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How a server ended. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Measured: 2.0 s from SIGTERM to the end of the server. */
const GRACE_MS = 15_000;

/** A `temporal server start-dev` of ours. */
class ServerProcess {
  /** Resolves when the process has ended, for whatever reason. */
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
   * Starts the executable with its output appended to `logFile`: a file and no pipe, so that a parent that is busy
   * or dead never blocks the server.
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
        env: withoutClientSettings(env),
        // Its own process group: Ctrl-C must reach the server after the workers have drained, through stop().
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

  /** What this process (not an earlier one with the same file) has logged. */
  async log(): Promise<string> {
    const { size } = await stat(this.#logFile);
    if (size <= this.#logOffset) return '';
    return (await readFile(this.#logFile)).subarray(this.#logOffset).toString('utf8');
  }

  /** Ends the process and waits for it; `kill` spares the orderly way, for a server that keeps nothing. */
  async stop(how: 'terminate' | 'kill'): Promise<void> {
    if (!this.isRunning) return;
    this.#child.ref();
    this.#child.kill(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
    const patience = new AbortController();
    const late = delay(GRACE_MS, 'late' as const, { signal: patience.signal }).catch(() => 'ended' as const);
    if ((await Promise.race([this.exited, late])) === 'late') this.#child.kill('SIGKILL');
    patience.abort();
    await this.exited;
  }
}

/**
 * TEMPORAL_* is meant for clients; some of it (TEMPORAL_ENV, TEMPORAL_TLS…) changes what the CLI does. MEDIA_* holds the
 * key, which no server needs (C5.4a).
 */
function withoutClientSettings(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:TEMPORAL|MEDIA)_/.test(name)));
}

/**
 * Runs in a Node process of its own. Its standard input is a pipe from us: a line means that we stopped the server
 * ourselves, an end without one that we were killed.
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

/** Watches over a child that must not outlive this process. */
interface Guardian {
  /** The child has ended: the guardian goes without touching anything. */
  release(): void;
}

/**
 * Stops the process `pid` (SIGTERM, after 10 s SIGKILL) when this process ends without calling `release`, a SIGKILL
 * included. The operating system closes the pipe in every case, so that no heartbeat is needed.
 */
export function guard(pid: number): Guardian {
  const child = spawn(process.execPath, ['-e', SCRIPT, String(pid)], {
    // Its own process group: Ctrl-C in a terminal must not end the guardian before its work is done.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'] },
    windowsHide: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  // The pipe alone must not keep our event loop alive.
  (child.stdin as unknown as { unref?: () => void }).unref?.();
  return { release: () => child.stdin.end('released\n') };
}

const LOOPBACK = '127.0.0.1';

/** A port of 127.0.0.1 that was free a moment ago: whoever uses it must be ready to try another one. */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port to be had on 127.0.0.1');
  return address.port;
}

/** Whether nobody listens on that port of 127.0.0.1. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    const server = await listen(port);
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return server;
}
