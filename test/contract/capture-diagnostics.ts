import { type Logger } from '@temporalio/common';

/** A logger whose lines are kept whole. */
export function capturing(lines: string[]): Logger {
  const log = (level: string, message: string, meta?: unknown) =>
    void lines.push(`${level} ${message} ${JSON.stringify(meta) ?? ''}`);
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}

/** Message, stack, own fields and causes: all that a history or a log could show of a failure. */
export function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? String(error);
  const own = JSON.stringify({ ...error });
  const cause = error.cause === undefined ? '' : everythingOf(error.cause);
  return [error.name, error.message, error.stack, own, cause].join('\n');
}
