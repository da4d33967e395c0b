import { isAttached } from './child-process';

export interface Interruption {
  /** Resolves on the first termination signal, or when the attached parent process or npm exits. */
  readonly happened: Promise<void>;
  /** Restores the default handling of signals. */
  dispose(): void;
}

/**
 * Returns the termination signals. Closing a console sends SIGHUP, and Ctrl-Break on Windows sends SIGBREAK. A process
 * without a terminal (`nohup`) is meant to outlive its console.
 */
function signals(): readonly NodeJS.Signals[] {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  if (process.platform === 'win32') return ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'];
  return hasTerminal ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];
}

/** Catches the first interruption. A second signal has its default effect. */
export function onInterruption(): Interruption {
  let stop: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => {
    const handler = (): void => {
      stop();
      resolve();
    };
    const attached = isAttached();
    const caught = signals();
    const watch = watchNpm(handler);
    stop = () => {
      clearInterval(watch);
      for (const signal of caught) process.off(signal, handler);
      process.off('disconnect', handler);
    };
    for (const signal of caught) process.on(signal, handler);
    if (attached) process.on('disconnect', handler);
    // The parent disconnected before this process could listen.
    if (attached && !process.connected) handler();
  });
  return { happened, dispose: () => stop() };
}

/** How often a process that npm started checks whether npm is still running, in milliseconds. */
const PARENT_CHECK_MS = 500;

/**
 * Watches npm. npx and `npm run` exit on SIGTERM without passing it on, so the process they started would keep running.
 * The exit of any other parent is ignored, because a background command is meant to outlive its shell.
 */
function watchNpm(gone: () => void): NodeJS.Timeout | undefined {
  if (!process.env['npm_command']) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, PARENT_CHECK_MS).unref();
}
