import { inspect } from 'node:util';
import { type LogEntry } from '@temporalio/worker';
import { createRedactor } from '../service/redact';

/**
 * Writes lines of a log to stderr, without keys, cookies and signed addresses, whoever logs (C5.4a, C5.4b): the SDK
 * and code of users write into the same log.
 */
export function redactedSink(secrets: readonly string[]): (entry: LogEntry) => void {
  const redactor = createRedactor(secrets);
  return ({ timestampNanos, level, message, meta }) => {
    const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
    const more = meta === undefined || Object.keys(meta).length === 0 ? '' : ` ${inspect(meta)}`;
    process.stderr.write(redactor.page(Buffer.from(`${at} [${level}] ${message}${more}\n`)));
  };
}
