import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type History } from '@temporalio/common/lib/proto-utils';
import { historyFromJson, historyFromProtobuf } from './history-codec';
import { HistoryError, type LoadedRun, ownRunId } from './loaded-history';

/**
 * Maximum file size in bytes. A server terminates a workflow at 50 MB of history, and base64 makes that a third larger.
 */
export const MOST_BYTES = 128 * 1024 * 1024;

/**
 * Reads a history file: protobuf, or the JSON from the Temporal CLI, a UI download or the SDK's historyToJSON. Leaves
 * payloads as they are in the file.
 * @throws HistoryError
 */
export async function readHistoryFile(path: string): Promise<LoadedRun> {
  const name = basename(path);
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > MOST_BYTES)
      throw new HistoryError(
        'too_large',
        `${name} is ${Math.ceil(size / 1024 / 1024)} MiB. A Temporal server limits a history to 50 MB, so a history file is never larger than ${MOST_BYTES / 1024 / 1024} MiB.`,
      );
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof HistoryError) throw error;
    throw new HistoryError(
      'not_found',
      `${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}.`,
    );
  }
  return runOf(parseHistory(bytes, name), name);
}

/** Reads a history from a file's bytes. @param name the file's name, for messages. @throws HistoryError */
export function parseHistory(bytes: Uint8Array, name: string): History {
  const history = isJson(bytes) ? parseJson(bytes, name) : parseProtobuf(bytes, name);
  checkEvents(history, name);
  return history;
}

/**
 * Whether a file is JSON. A protobuf history can look like JSON: it begins with the tag of the `events` field, which is
 * a line feed, and the first event's length.
 */
function isJson(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 64)).toString('utf8');
  return /^\uFEFF?\s*(?:[[{"]|null\b)/.test(start) && !isProtobuf(bytes);
}

/** Whether a file is a protobuf history. An event's first field is its id, and the first id is 1. */
function isProtobuf(bytes: Uint8Array): boolean {
  return bytes[0] === 0x0a && [2, 3, 4].some((at) => bytes[at] === 0x08 && bytes[at + 1] === 0x01);
}

function parseJson(bytes: Uint8Array, name: string): History {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (isAtEnd((error as Error).message, text))
      throw new HistoryError(
        'truncated',
        `${name} ends in the middle of the history. Export the workflow again.`,
      );
    throw new HistoryError('not_a_history', `${name} is neither JSON nor a protobuf history.`);
  }
  const { events } = (json ?? {}) as { readonly events?: unknown };
  if (!Array.isArray(events))
    throw new HistoryError(
      'not_a_history',
      `${name} is JSON but not a history: it has no list of events. ${HOW_TO_EXPORT}`,
    );
  if (events.some(hasValuesAsPayloads))
    throw new HistoryError(
      'not_a_history',
      `${name} contains decoded values instead of payloads, so it cannot be replayed. Export it again without decoding: turn off "Decode Event History" in the UI, or pass --no-json-shorthand-payloads to the Temporal CLI.`,
    );
  try {
    return historyFromJson({ events });
  } catch (error) {
    throw new HistoryError(
      'not_a_history',
      `${name} has events that are not valid in a Temporal history (${firstLine(error)}).`,
    );
  }
}

/** Whether a parse error is at the end of the text. V8 reports either the error's position or the end of the input. */
function isAtEnd(message: string, text: string): boolean {
  const position = /at position (\d+)/.exec(message)?.[1];
  return /end of JSON input|Unterminated string/.test(message) || Number(position) >= text.length;
}

const HOW_TO_EXPORT = 'Export one with `temporal workflow show --workflow-id ID -o json`.';

/** Attribute fields that are `{payloads: […]}` in a history. */
const PAYLOADS = ['input', 'result', 'details', 'lastCompletionResult'];

function hasValuesAsPayloads(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  const attributes = Object.entries(event).find(([name]) => name.endsWith('EventAttributes'))?.[1] as
    | Record<string, unknown>
    | null
    | undefined;
  return PAYLOADS.some((field) => {
    const value = attributes?.[field];
    if (Array.isArray(value)) return true;
    const { payloads } = (typeof value === 'object' && value !== null ? value : {}) as {
      readonly payloads?: unknown;
    };
    return Array.isArray(payloads) && payloads.some((one) => !isPayload(one));
  });
}

function isPayload(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).every((name) => ['metadata', 'data', 'externalPayloads'].includes(name));
}

function parseProtobuf(bytes: Uint8Array, name: string): History {
  try {
    return historyFromProtobuf(bytes);
  } catch (error) {
    if (error instanceof RangeError && bytes[0] === 0x0a)
      throw new HistoryError(
        'truncated',
        `${name} ends in the middle of the history. Export the workflow again.`,
      );
    throw new HistoryError('not_a_history', `${name} is neither JSON nor a protobuf history.`);
  }
}

function checkEvents({ events }: History, name: string): void {
  const [first] = events ?? [];
  if (first === undefined) throw new HistoryError('not_a_history', `${name} has no events. ${HOW_TO_EXPORT}`);
  if (!(Number(first.eventId) > 0))
    throw new HistoryError(
      'not_a_history',
      `${name} has events that are not valid in a Temporal history: the first one has no event id.`,
    );
  if (Number(first.eventId) !== 1)
    throw new HistoryError(
      'truncated',
      `${name} begins with event ${Number(first.eventId)}: the events before it are missing.`,
    );
  if (first.workflowExecutionStartedEventAttributes == null)
    throw new HistoryError('not_a_history', `${name} does not begin with a WorkflowExecutionStarted event.`);
  for (const [index, event] of (events ?? []).entries())
    if (Number(event.eventId) !== index + 1)
      throw new HistoryError(
        'truncated',
        `${name} is missing events: event ${index} is followed by event ${Number(event.eventId)}.`,
      );
}

/** Returns a history as a loaded run. @param source the file's name, or `server` */
export function runOf(
  history: History,
  source: string,
  execution?: { workflowId: string; runId: string },
): LoadedRun {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    // Old servers do not write the id.
    workflowId:
      execution?.workflowId ?? (started?.workflowId || source.replace(/\.(json|bin|pb|binpb)$/, '')),
    runId: execution?.runId ?? ownRunId(history) ?? '',
    workflowType: started?.workflowType?.name ?? '',
    source,
    history,
  };
}

const firstLine = (error: unknown): string => String((error as Error).message).split('\n')[0] ?? '';
