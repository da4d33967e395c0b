import { throwBug } from '../domain/bug';
import { given, type JsonValue } from '../domain/json';
import { isUsableTaskId } from '../domain/video-task';
import { type ImageItem, type ReplyHeaders, type VideoAccepted } from './media-client';
import { readBase64, readDataUrl } from './read-data-url';
import { isSentence, type Redactor } from './redact';
import { type HeaderValues } from './reply-headers';
import { asNumber, asObject, asText, field, isErrorCode, type JsonRecord } from './task-error';
import { phaseOf, type ReadContext, resolveResultUrl, statusValue, readUsage } from './video-record';

export interface AcceptedReply {
  readonly httpStatus: number;
  readonly headers: ReplyHeaders;
  readonly redactor: Redactor;
}

/** Largest image that is decoded, in bytes. */
const MAX_IMAGE = 192 * 1024 * 1024;

export interface ImageReply {
  readonly created: number | null;
  readonly items: readonly ImageItem[];
  readonly usage?: JsonValue;
}

/**
 * Reads the image response (contract 2.5): both kinds of items whatever was requested, in order, none omitted.
 * Undefined when there is no `data` array: then the result of a paid call is unknown.
 */
export function readImageReply(
  json: JsonValue | undefined,
  { baseUrl, redactor }: ReadContext,
): ImageReply | undefined {
  const reply = asObject(json);
  const data = field(reply, 'data');
  if (!Array.isArray(data)) return undefined;
  const created = asNumber(field(reply, 'created')) ?? -1;
  return {
    created: Number.isInteger(created) && created >= 0 ? created : null,
    items: data.map((item) => readItem(item, baseUrl)),
    ...given({ usage: readUsage(reply, redactor) }),
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

/** Reads the create reply: an id that cannot be part of a path is invalid (row 33). */
export function readVideoReply(json: JsonValue | undefined, reply: AcceptedReply): VideoAccepted | undefined {
  const record = findRecord(json, {});
  const taskId = record && taskIdIn(record);
  if (taskId === undefined) return undefined;
  // Histories and paths contain the id unchanged: an id with content that they must not have is invalid.
  if (reply.redactor.holdsSecret(taskId) || isSentence(taskId)) return undefined;
  const status = statusValue(asText(field(record, 'status')) ?? '');
  return {
    class: 'accepted',
    taskId,
    httpStatus: reply.httpStatus,
    status: reply.redactor.name(status, 64),
    phase: phaseOf(status),
    headers: reply.headers,
  };
}

/** Headers that identify a request in the logs of a service and contain no secrets. */
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

/** Times have more words than a name, so they are not redacted as names. */
const TIME = /^(?:[A-Z][a-z]{2,8}, )?[\w: .-]{1,40}$/;
const TIMES: ReadonlySet<string> = new Set(['date', 'retry-after']);

/** The allow-listed headers of a reply, cleaned and capped. */
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

/** Gateways wrap the reply that they receive, as an object or as text, and some of them twice. */
const MAX_DEPTH = 8;
const MAX_VALUES = 500;
const MAX_TEXT = 16_384;

/** Fields under which gateways put the reply that they received. */
const ENVELOPES: ReadonlySet<string> = new Set(['data', 'result', 'response']);

/** Names of the task id, the contract's first. */
const ID_FIELDS = ['id', 'task_id', 'taskId'] as const;

/** Status values that bodies without a record use, too: `{"status": "success", "data": …}`. */
const OF_REPLIES = /^(?:error|fail|failure|unknown|success|succeeded|ok)$/;

interface Place {
  readonly value: JsonRecord;
  readonly depth: number;
  /** The reply itself, or what only envelopes are around. */
  readonly isOuter: boolean;
}

interface RecordQuery {
  /** The task that was polled; a create has none yet. */
  readonly taskId?: string;
  /** The reply has the HTTP status of an error, so that it contains a record only when that is certain. */
  readonly isError?: boolean;
}

/**
 * Finds the record of a task in a reply, wherever it is: the reply itself, in an envelope, or inside an error or text
 * (test/fixtures/wire). The only reader for creates and polls. It prefers the record with the id of the task, then the
 * outermost one, because a service behind a gateway may use another id.
 */
export function findRecord(
  reply: JsonValue | undefined,
  { taskId, isError = false }: RecordQuery,
): JsonRecord | undefined {
  const top = asObject(reply);
  // Most replies are the record itself. The status of a create's reply may be that of an envelope.
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

/** The id of the task in its record; undefined when none can be part of a path (failure model: row 33). */
function taskIdIn(record: JsonRecord): string | undefined {
  return ID_FIELDS.map((name) => {
    const value = field(record, name);
    // A larger number has lost digits.
    return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  }).find(isUsableTaskId);
}

/**
 * The record in the reply to a create: with an id and a known status, else the outermost object with an id. Two tasks
 * side by side are none: one was ordered. Ids inside an error are those of requests.
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

/** The outermost record of a poll's reply, with or without a known status. An envelope has a status, but no id. */
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
 * The only record in the reply, if it is failed and has fields that error bodies lack. This excludes the video of
 * another task, an error body, and a failed attempt inside the record of a task that continues.
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

/** Whether it has the id of this task; of a create, any id. */
function isNamed(value: JsonRecord, taskId?: string): boolean {
  return taskId === undefined ? taskIdIn(value) !== undefined : idsIn(value).includes(taskId);
}

/** Whether it has fields that records have and error bodies do not. */
function isMarked(value: JsonRecord): boolean {
  return (
    /^video(?:$|[._])/i.test(asText(field(value, 'object')) ?? '') ||
    ['progress', 'created_at', 'completed_at'].some((name) => asNumber(field(value, name)) !== undefined)
  );
}

/** Whether its status value is one that only records use. */
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
    // A list may be that of other things than tasks.
    return value
      .slice(0, MAX_VALUES)
      .map((one: JsonValue) => inner(one, isOuter && value.length === 1 && idsIn(asObject(one)).length > 0));
  return Object.entries(asObject(value) ?? {})
    .slice(0, MAX_VALUES)
    .map(([name, one]) => inner(one, isOuter && ENVELOPES.has(name)));
}

/** The JSON object in a text, with or without text of a gateway around it. */
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
