import { throwBug } from '../domain/bug';
import { given, type JsonValue } from '../domain/json';
import { type ActualRule } from '../domain/model-config';
import { type Money } from '../domain/money';
import { isUsableTaskId } from '../domain/video-task';
import { type ImageItem, type ReplyHeaders, type VideoAccepted } from './media-client';
import { readBase64, readDataUrl } from './read-data-url';
import { isSentence, type Redactor } from './redact';
import { type HeaderValues } from './reply-headers';
import { asNumber, asObject, asText, field, isErrorCode, type JsonRecord } from './task-error';
import {
  amountAt,
  phaseOf,
  type ReadContext,
  resolveResultUrl,
  statusValue,
  readUsage,
} from './video-record';

export interface AcceptedReply {
  readonly httpStatus: number;
  readonly headers: ReplyHeaders;
  readonly redactor: Redactor;
  /** What the call cost, if its model has a rule for a header and the reply has that header. */
  readonly billed?: Money | undefined;
  /** Where the reply says what the call cost. */
  readonly actual?: ActualRule | undefined;
}

/** The largest image to decode, in bytes. */
const MAX_IMAGE = 192 * 1024 * 1024;

export interface ImageReply {
  readonly created: number | null;
  readonly items: readonly ImageItem[];
  readonly usage?: JsonValue;
  readonly actual?: Money;
}

/**
 * Reads an image reply (contract 2.5). Returns every item in order and accepts both URLs and Base64, whatever was
 * requested. Undefined if there is no `data` array; the paid call's result is then unknown.
 */
export function readImageReply(
  json: JsonValue | undefined,
  { baseUrl, redactor, actual }: ReadContext,
): ImageReply | undefined {
  const reply = asObject(json);
  const data = field(reply, 'data');
  if (!Array.isArray(data)) return undefined;
  const created = asNumber(field(reply, 'created')) ?? -1;
  return {
    created: Number.isInteger(created) && created >= 0 ? created : null,
    items: data.map((item) => readItem(item, baseUrl)),
    ...given({ usage: readUsage(reply, redactor), actual: amountAt(reply, actual) }),
  };
}

function readItem(item: JsonValue, baseUrl: string): ImageItem {
  const record = asObject(item);
  if (record === undefined) return { kind: 'unreadable', reason: 'not_an_object' };
  const base64 = field(record, 'b64_json');
  const url = field(record, 'url');
  if (typeof base64 === 'string' && base64 !== '') {
    const data = readDataUrl(base64.trim(), MAX_IMAGE) ?? readBase64(base64, MAX_IMAGE);
    if (data !== undefined) return { kind: 'b64', data };
    if (typeof url !== 'string') return { kind: 'unreadable', reason: 'invalid_base64' };
  }
  if (typeof url !== 'string' || url.trim() === '')
    return { kind: 'unreadable', reason: 'neither_url_nor_base64' };
  const resolved = resolveResultUrl(url, baseUrl);
  return resolved === undefined
    ? { kind: 'unreadable', reason: 'invalid_url' }
    : { kind: 'url', url: resolved };
}

/** Reads a create reply. An ID that cannot be part of a path is invalid (row 33). */
export function readVideoReply(json: JsonValue | undefined, reply: AcceptedReply): VideoAccepted | undefined {
  const record = findRecord(json, {});
  const taskId = record && taskIdIn(record);
  if (taskId === undefined) return undefined;
  // Histories and paths contain the ID unchanged, so an ID that contains a secret or a sentence is invalid.
  if (reply.redactor.holdsSecret(taskId) || isSentence(taskId)) return undefined;
  const status = statusValue(asText(field(record, 'status')) ?? '');
  return {
    class: 'accepted',
    taskId,
    httpStatus: reply.httpStatus,
    status: reply.redactor.name(status, 64),
    phase: phaseOf(status),
    ...given({ actual: reply.billed }),
    headers: reply.headers,
  };
}

/** Headers that identify a request in the service's logs and contain no secrets. */
const ALLOWED: readonly string[] = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-trace-id',
  'x-amzn-requestid',
  'x-amz-request-id',
  'x-ms-request-id',
  'cf-ray',
  'date',
  'retry-after',
];

/** Times have more words than names, so `Redactor.name` would remove them. */
const TIME = /^(?:[A-Z][a-z]{2,8}, )?[\w: .-]{1,40}$/;
const TIMES: ReadonlySet<string> = new Set(['date', 'retry-after']);

/** Returns a reply's allow-listed headers, redacted and truncated. */
export function replyHeaders(headers: HeaderValues, redactor: Redactor): ReplyHeaders {
  const kept: Record<string, string> = {};
  for (const name of ALLOWED) {
    const value = headers[name];
    if (value === undefined) continue;
    const whole = typeof value === 'string' ? value : value.join(', ');
    const isTime = TIMES.has(name) && TIME.test(whole) && (/^\d/.test(whole) || !isNaN(Date.parse(whole)));
    const text = isTime ? redactor.text(whole, 60) : redactor.name(whole, 200);
    if (text !== '') kept[name] = text;
  }
  return kept;
}

/** The maximum nesting depth. Gateways wrap upstream replies as an object or as text, sometimes twice. */
const MAX_DEPTH = 8;
const MAX_VALUES = 500;
const MAX_TEXT = 16_384;

/** Fields where gateways put the upstream reply. */
const ENVELOPES: ReadonlySet<string> = new Set(['data', 'result', 'response']);

/** Names of the task ID field, with the contract's name first. */
const ID_FIELDS = ['id', 'task_id', 'taskId'] as const;

/** Status values that also occur in bodies without a record, such as `{"status": "success", "data": …}`. */
const OF_REPLIES = /^(?:error|fail|failure|unknown|success|succeeded|ok)$/;

interface Place {
  readonly value: JsonRecord;
  readonly depth: number;
  /** Whether this is the reply itself or is nested only in envelopes. */
  readonly isOuter: boolean;
}

interface RecordQuery {
  /** The polled task's ID. A create does not have one yet. */
  readonly taskId?: string;
  /** Whether the reply has an error status. Such a reply counts as a record only if it certainly is one. */
  readonly isError?: boolean;
}

/**
 * Finds a task's record in a reply: the reply itself, or nested in an envelope, an error or text (test/fixtures/wire).
 * Creates and polls both use this function. It prefers the record with the task's ID, then the outermost record,
 * because a service behind a gateway may use a different ID.
 */
export function findRecord(
  reply: JsonValue | undefined,
  { taskId, isError = false }: RecordQuery,
): JsonRecord | undefined {
  const top = asObject(reply);
  // Most replies are the record itself. In a create reply, the status may belong to an envelope.
  if (top !== undefined && isKnown(top) && isNamed(top, taskId) && (taskId !== undefined || isDecisive(top)))
    return top;
  const places = placesIn(reply);
  const own = places.filter(
    ({ value, isOuter }) =>
      isKnown(value) && isNamed(value, taskId) && (isOuter || isMarked(value) || isDecisive(value)),
  );
  if (taskId === undefined) return createdRecord(own, places);
  if (own[0] !== undefined) return own[0].value;
  const outer = outermost(places, taskId, isError);
  if (outer !== undefined && isKnown(outer)) return outer;
  return failedWithin(places, taskId) ?? (isError ? undefined : outer);
}

/** The task ID in a record; undefined if it has no ID that can be part of a path (failure model: row 33). */
function taskIdIn(record: JsonRecord): string | undefined {
  return ID_FIELDS.map((name) => {
    const value = field(record, name);
    // A larger number has lost digits.
    return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  }).find(isUsableTaskId);
}

/**
 * Finds the record in a create reply: an object with an ID and a known status, or else the outermost object with an ID.
 * Undefined if there are two tasks at the same level, because only one was requested. IDs inside an error are request
 * IDs.
 */
function createdRecord(own: readonly Place[], places: readonly Place[]): JsonRecord | undefined {
  const reply = places.find(({ depth }) => depth === 0)?.value;
  const isRefusal = isErrorCode(field(reply, 'code')) || field(reply, 'error') !== undefined;
  const named = own.filter(({ isOuter }) => isOuter || !isRefusal);
  const first = named.find(({ value, isOuter }) => isOuter && isDecisive(value)) ?? named[0];
  if (first === undefined)
    return places.find(
      ({ value, depth, isOuter }) => isNamed(value) && (depth === 0 || (isOuter && !isRefusal)),
    )?.value;
  const isOther = ({ value, depth }: Place) =>
    depth === first.depth && taskIdIn(value) !== taskIdIn(first.value);
  return named.some(isOther) ? undefined : first.value;
}

/** The outermost record in a poll's reply, with or without a known status. Envelopes have a status but no ID. */
function outermost(places: readonly Place[], taskId: string, isError: boolean): JsonRecord | undefined {
  const outer = places.filter(({ isOuter }) => isOuter).map(({ value }) => value);
  const isTask = (value: JsonRecord) => idsIn(value).length > 0 || isMarked(value);
  if (isError)
    return outer.find(
      (value) => isKnown(value) && idsIn(value).length > 0 && (isDecisive(value) || isMarked(value)),
    );
  const task = outer.find((value) => isNamed(value, taskId) || (hasStatus(value) && isTask(value)));
  if (task !== undefined && isKnown(task)) return task;
  const before = outer.slice(0, task === undefined ? undefined : outer.indexOf(task));
  return (
    before.find((value) => isKnown(value) && (task === undefined || isDecisive(value))) ??
    task ??
    outer.find(
      (value) => hasStatus(value) || (idsIn(value).length > 0 && field(value, 'error') === undefined),
    )
  );
}

/**
 * The only record in the reply, if it has failed and has fields that error bodies lack. This excludes another task's
 * video, an error body, and a failed attempt inside the record of a running task.
 */
function failedWithin(places: readonly Place[], taskId: string): JsonRecord | undefined {
  const [only, ...others] = places.map(({ value }) => value).filter((value) => isKnown(value));
  if (only === undefined || others.length > 0 || !isMarked(only) || phaseIn(only) !== 'failed')
    return undefined;
  const isOfTask = places.some(
    ({ value }, index) =>
      value !== only && (index === 0 || hasStatus(value)) && (isNamed(value, taskId) || isMarked(value)),
  );
  return isOfTask ? undefined : only;
}

/** Whether the object has this task's ID, or any ID if no task is given. */
function isNamed(value: JsonRecord, taskId?: string): boolean {
  return taskId === undefined ? taskIdIn(value) !== undefined : idsIn(value).includes(taskId);
}

/** Whether the object has fields that records have and error bodies lack. */
function isMarked(value: JsonRecord): boolean {
  return (
    /^video(?:$|[._])/i.test(asText(field(value, 'object')) ?? '') ||
    ['progress', 'created_at', 'completed_at'].some((name) => asNumber(field(value, name)) !== undefined)
  );
}

/** Whether only records use this status value. */
const isDecisive = (value: JsonRecord) => !OF_REPLIES.test(wordIn(value));

const idsIn = (value: JsonRecord | undefined) =>
  ID_FIELDS.flatMap((name) => asText(field(value, name)) ?? []);

const hasStatus = (value: JsonRecord) => asText(field(value, 'status')) !== undefined;

const isKnown = (value: JsonRecord) => phaseIn(value) !== 'unknown';

const wordIn = (value: JsonRecord) => statusValue(asText(field(value, 'status')) ?? '');

const phaseIn = (value: JsonRecord) => phaseOf(wordIn(value));

/** Every object in the reply, outermost first. */
function placesIn(reply: JsonValue | undefined): Place[] {
  const found: Place[] = [];
  const queue: Inner[] = [{ value: reply, depth: 0, isOuter: true }];
  for (let next = 0; next < queue.length && next < MAX_VALUES; next++) {
    const one = queue[next] as Inner;
    const value = asObject(one.value);
    if (value !== undefined) found.push({ ...one, value });
    if (one.depth < MAX_DEPTH && queue.length < MAX_VALUES) queue.push(...insideOf(one));
  }
  return found;
}

interface Inner extends Omit<Place, 'value'> {
  readonly value: JsonValue | undefined;
}

function insideOf({ value, depth, isOuter }: Inner): Inner[] {
  const inner = (one: JsonValue, outer: boolean): Inner => ({ value: one, depth: depth + 1, isOuter: outer });
  if (typeof value === 'string') return jsonIn(value).map((one) => inner(one, false));
  if (Array.isArray(value))
    // A list need not be a list of tasks.
    return value
      .slice(0, MAX_VALUES)
      .map((one: JsonValue) => inner(one, isOuter && value.length === 1 && idsIn(asObject(one)).length > 0));
  return Object.entries(asObject(value) ?? {})
    .slice(0, MAX_VALUES)
    .map(([name, one]) => inner(one, isOuter && ENVELOPES.has(name)));
}

/** The JSON object in text, even if a gateway added text around it. */
function jsonIn(text: string): JsonValue[] {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to <= from || to - from >= MAX_TEXT) return [];
  try {
    return [JSON.parse(text.slice(from, to + 1)) as JsonValue];
  } catch (error) {
    throwBug(error);
    return [];
  }
}
