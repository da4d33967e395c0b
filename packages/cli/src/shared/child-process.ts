import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { CliError } from './errors';
import { type FailureReply } from './json-output';

/** A `temporal-media` command that runs in its own process and is ready. */
export interface RunningChild<Ready> {
  readonly pid: number;
  readonly ready: Ready;
  /** Resolves with a signal or exit code when the process has exited. */
  readonly exited: Promise<string>;
  /** Asks the process to exit, and kills it after `graceMs`. Resolves when the process has exited. */
  stop(graceMs: number): Promise<void>;
  /** Sends SIGKILL. */
  kill(): void;
}

interface StartChildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** File to append its output to. With a pipe, the child would block when the parent is busy or dead. */
  readonly logFile: string;
  /** Milliseconds within which the process must be ready. @default 120000 */
  readonly readyMs?: number;
}

/**
 * Starts `temporal-media ARGS` and waits until it is ready. The child exits when this process exits, because the IPC
 * channel closes. It has its own process group, so Ctrl-C reaches it only through `stop`.
 * @throws CliError with the child's own message when it does not become ready
 */
export async function startChild<Ready>(
  args: readonly string[],
  { env, logFile, readyMs = 120_000 }: StartChildOptions,
): Promise<RunningChild<Ready>> {
  await mkdir(dirname(logFile), { recursive: true });
  const log = await open(logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [join(__dirname, '..', 'main.js'), ...args], {
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
  // Closing the IPC channel makes the child drain. On Windows, a signal would end it immediately, even during a create.
  if (child.connected) child.disconnect();
  else child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** A child process that is restarted when it exits. */
export interface Supervised<Ready> {
  /** The running child; undefined during a restart. */
  current(): RunningChild<Ready> | undefined;
  /** Stops the child without restarting it. Resolves when the child has exited. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

interface SuperviseOptions<Ready> {
  readonly name: string;
  readonly start: () => Promise<RunningChild<Ready>>;
  readonly onStart: (child: RunningChild<Ready>) => Promise<void>;
  readonly say: (line: string) => void;
  /** Whether a first start that failed with this error is reported and retried, as later starts are. @default never */
  readonly isMended?: (error: unknown) => boolean;
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** Uptime in milliseconds after which the restart delay is reset. */
const HEALTHY_MS = 60_000;

/**
 * Starts a child and restarts it on exit, after 1 s, 2 s, 4 s … up to 30 s. Throws when the first start fails, unless
 * `isMended` returns true for the error.
 */
export async function supervise<Ready>(options: SuperviseOptions<Ready>): Promise<Supervised<Ready>> {
  const { name, start, onStart, say, isMended = () => false } = options;
  const failed = (error: unknown): void =>
    say(`The ${name} failed: ${error instanceof Error ? error.message : String(error)}`);
  let child: RunningChild<Ready> | undefined = await start().catch((error: unknown) => {
    if (!isMended(error)) throw error;
    failed(error);
    return undefined;
  });
  const stopping = new AbortController();
  if (child !== undefined) await onStart(child);

  const keep = async (): Promise<void> => {
    let delayMs = FIRST_DELAY_MS;
    let startedAt = performance.now();
    while (!stopping.signal.aborted) {
      const how = child === undefined ? 'it did not start' : await child.exited;
      if (stopping.signal.aborted) return;
      child = undefined;
      if (performance.now() - startedAt > HEALTHY_MS) delayMs = FIRST_DELAY_MS;
      say(`The ${name} stopped (${how}). Restarting in ${delayMs / 1000} s.`);
      await pause(delayMs, stopping.signal);
      if (stopping.signal.aborted) return;
      delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
      startedAt = performance.now();
      try {
        child = await start();
        await onStart(child);
        say(`The ${name} is running again (process ${child.pid}).`);
      } catch (error) {
        failed(error);
      }
    }
  };
  const kept = keep();

  return {
    current: () => child,
    kill: () => child?.kill(),
    stop: async (graceMs) => {
      stopping.abort();
      await child?.stop(graceMs);
      await kept;
      // Stops a child that was still starting when stop was called.
      await child?.stop(graceMs);
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(otherwise(undefined));
}

/** Set in the environment of a child that stays connected to its `temporal-media` parent. */
const ATTACHED_VARIABLE = 'TEMPORAL_MEDIA_ATTACHED';

/** A message from such a child to its parent. */
type ChildMessage =
  | { readonly type: 'ready'; readonly data: object }
  | { readonly type: 'failed'; readonly error: FailureReply };

/** Whether this process is such a child, which must exit when its parent exits. */
export function isAttached(): boolean {
  return process.env[ATTACHED_VARIABLE] === '1' && process.send !== undefined;
}

export function notifyParent(message: ChildMessage): void {
  if (isAttached() && process.connected) process.send?.(message);
}
