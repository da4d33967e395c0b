import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Guardian, guard } from './guardian';
import { type Environment } from './source';

/** How a server ended. */
export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Measured: 2.0 s from SIGTERM to the end of the server. */
const GRACE_MS = 15_000;

/** A `temporal server start-dev` of ours. */
export class ServerProcess {
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
