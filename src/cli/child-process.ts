import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ATTACHED_VARIABLE, type ChildMessage } from './attached';
import { CliError } from './cli-error';

/** A `temporal-media` command in a process of its own that is ready. */
export interface RunningChild<Ready> {
  readonly pid: number;
  readonly ready: Ready;
  /** How it ended, in words; resolves when it has. */
  readonly exited: Promise<string>;
  /** SIGTERM, and SIGKILL when it has not ended within `graceMs`. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
  /** SIGKILL. */
  kill(): void;
}

export interface StartChildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** File that its output is appended to: no pipe, so that a busy or dead parent never blocks it. */
  readonly logFile: string;
  /** Milliseconds until it must be ready. @default 120000 */
  readonly readyMs?: number;
}

/**
 * Starts `temporal-media ARGS` and waits until it is ready. It ends when this process does, however that ends (the
 * channel between the two closes), and is in a process group of its own: Ctrl-C reaches it only through `stop`.
 * @throws CliError with the child's own words when it does not get ready
 */
export async function startChild<Ready>(
  args: readonly string[],
  { env, logFile, readyMs = 120_000 }: StartChildOptions,
): Promise<RunningChild<Ready>> {
  await mkdir(dirname(logFile), { recursive: true });
  const log = await open(logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [join(__dirname, 'main.js'), ...args], {
      env: { ...env, [ATTACHED_VARIABLE]: '1' },
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      detached: true,
      windowsHide: true,
    });
    await once(child, 'spawn');
  } finally {
    await log.close();
  }
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  try {
    const ready = await readyOf(child, exited, `temporal-media ${args[0] ?? ''}`, readyMs);
    return {
      pid: child.pid ?? 0,
      ready: ready as Ready,
      exited,
      kill: () => void child.kill('SIGKILL'),
      stop: (graceMs) => stop(child, exited, graceMs),
    };
  } catch (error) {
    await stop(child, exited, 2_000);
    throw error;
  }
}

async function readyOf(
  child: ChildProcess,
  exited: Promise<string>,
  name: string,
  readyMs: number,
): Promise<object> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`it was not ready after ${readyMs / 1000} s`), readyMs);
  });
  const message = new Promise<ChildMessage>((resolve) => {
    child.once('message', (received) => resolve(received as ChildMessage));
  });
  const first = await Promise.race([message, late, exited]);
  clearTimeout(timer);
  if (typeof first === 'string') {
    throw new CliError('child_failed', `${name} did not start: ${first}.`);
  }
  if (first.type === 'ready') return first.data;
  throw CliError.from(first.error);
}

async function stop(child: ChildProcess, exited: Promise<string>, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}
