import { type JsonValue } from '../../src/domain/json';
import { type VideoReading } from '../../src/service/media-client';
import { findRecord } from '../../src/service/read-replies';
import { createRedactor } from '../../src/service/redact';
import { readVideoRecord } from '../../src/service/video-record';

interface Polled {
  /** @default 't1' */
  readonly taskId?: string;
  /** The reply has the HTTP status of an error. */
  readonly isError?: boolean;
  /** Keys that are removed from texts. @default none */
  readonly keys?: readonly string[];
}

/** What a poll reads of a reply; undefined when it contains no record. */
export function readRecord(
  reply: JsonValue | undefined,
  { taskId = 't1', isError = false, keys = [] }: Polled = {},
): VideoReading | undefined {
  const found = findRecord(reply, { taskId, isError });
  const context = { baseUrl: 'https://api.example/base', redactor: createRedactor(keys) };
  return found && readVideoRecord(found, context);
}
