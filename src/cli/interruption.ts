import { isAttached } from './attached';

export interface Interruption {
  /** Resolves at the first SIGINT or SIGTERM, or when the parent that started this process is gone. */
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
    stop = () => {
      process.off('SIGINT', handler).off('SIGTERM', handler).off('disconnect', handler);
    };
    process.on('SIGINT', handler).on('SIGTERM', handler);
    if (attached) process.on('disconnect', handler);
  });
  return { happened, dispose: () => stop() };
}
