import { inspect } from 'node:util';
import { type LogEntry } from '@temporalio/worker';
import { visible, visibleJson } from 'temporal-media/internal/domain/terminal-text';
import { createRedactor } from 'temporal-media/internal/service/redact';

export const LOG_FORMATS = ['text', 'json'] as const;

export type LogFormat = (typeof LOG_FORMATS)[number];

const KEYS_EVERY_MS = 1_000;

/**
 * Writes log lines to stderr, redacting keys, cookies and signed URLs, because the SDK and user code write to the same
 * log.
 */
export function redactedSink(
  format: LogFormat,
  secrets: () => readonly string[],
  write: (line: Buffer) => void = (line) => void process.stderr.write(line),
): (entry: LogEntry) => void {
  let redactor = createRedactor(secrets());
  let madeAt = performance.now();
  return (entry) => {
    // Keys may be replaced while the worker runs.
    if (performance.now() - madeAt >= KEYS_EVERY_MS)
      [redactor, madeAt] = [createRedactor(secrets()), performance.now()];
    const page = (text: string): string => redactor.page(Buffer.from(text)).toString();
    const line = format === 'json' ? jsonLine(entry, page) : page(textLine(entry));
    write(Buffer.from(`${line}\n`));
  };
}

const timeOf = ({ timestampNanos }: LogEntry): string =>
  new Date(Number(timestampNanos / 1_000_000n)).toISOString();

function textLine(entry: LogEntry): string {
  const { level, message, meta } = entry;
  const more = meta === undefined || Object.keys(meta).length === 0 ? '' : ` ${inspect(meta)}`;
  // Only an entry's first line starts in the first column, so other lines cannot look like a new entry.
  return `${timeOf(entry)} [${level}] ${message}${more}`.split('\n').map(visible).join('\n  ');
}

/** Formats an entry as one JSON line. Each string is redacted separately, so that the line remains valid JSON. */
function jsonLine(entry: LogEntry, page: (text: string) => string): string {
  const { level, message, meta } = entry;
  const head = { time: timeOf(entry), level, message };
  const clean = (value: unknown): string => {
    const texts = JSON.stringify(value, (_name, inner: unknown) => plain(inner));
    // User code may also choose field names.
    return visibleJson(JSON.parse(texts), (_name, inner) => redacted(inner, page));
  };
  try {
    // The entry's own fields are set last, so that metadata cannot replace them.
    return clean({ ...head, ...meta, ...head });
  } catch (_error) {
    // A value that JSON cannot represent, such as a circular reference.
    return clean({ ...head, meta: inspect(meta) });
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, ...(cause !== undefined && { cause }) };
}

function redacted(value: unknown, page: (text: string) => string): unknown {
  if (typeof value === 'string') return page(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => [
      page(name),
      typeof inner === 'string' ? ofField(name, inner, page) : inner,
    ]),
  );
}

/** A cookie or signature is recognized only by its field name. */
function ofField(name: string, value: string, page: (text: string) => string): string {
  const shown = page(`${name}: ${value}`);
  const start = `${page(name)}: `;
  return shown.startsWith(start) ? shown.slice(start.length) : '[removed]';
}
