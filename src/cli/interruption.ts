import { isAttached } from './child-process';

export interface Interruption {
  /** Resolves at the first SIGINT or SIGTERM, or when an attached parent process or npm has exited. */
  readonly happened: Promise<void>;
  /** Restores the default handling of signals. */
  dispose(): void;
}

/** Catches the first interruption; a second signal has its default effect. */
export function onInterruption(): Interruption {
  let stop: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => {
    const handler = (): void => {
      stop();
      resolve();
    };
    const attached = isAttached();
    const watch = watchNpm(handler);
    stop = () => {
      clearInterval(watch);
      process.off('SIGINT', handler).off('SIGTERM', handler).off('disconnect', handler);
    };
    process.on('SIGINT', handler).on('SIGTERM', handler);
    if (attached) process.on('disconnect', handler);
  });
  return { happened, dispose: () => stop() };
}

/** How often a process that npm started checks that npm still runs, in milliseconds. */
const LOOK_MS = 500;

/**
 * npx and `npm run` exit on SIGTERM without passing it on, so that the process that they started would stay. The exit
 * of any other parent is ignored: a command in the background of a shell is meant to outlive it.
 */
function watchNpm(gone: () => void): NodeJS.Timeout | undefined {
  if (!process.env['npm_command']) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, LOOK_MS).unref();
}
