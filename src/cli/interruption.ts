import { isAttached } from './attached';

export interface Interruption {
  /** Resolves at the first SIGINT or SIGTERM, or when the parent is gone that started this process and speaks for it. */
  readonly happened: Promise<void>;
  /** Back to the system's own handling. */
  dispose(): void;
}

/** Catches the first interruption; a second one ends the process as the system does it. */
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

/** How often a process that npm has started looks whether npm is still there. */
const LOOK_MS = 500;

/**
 * npx and `npm run` end at SIGTERM without passing it on: what they started is then nobody's, and would stay. Any other
 * parent may go: whoever starts a command in the background of a shell wants it to outlive that.
 */
function watchNpm(gone: () => void): NodeJS.Timeout | undefined {
  if (!process.env['npm_command']) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, LOOK_MS).unref();
}
