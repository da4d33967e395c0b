import { type JsonValue } from '../domain/json';
import { type Redactor, isSentence } from './redact';
import { readBase64, readDataUrl } from './read-data-url';
import { type ImageItem, type ReplyHeaders, type VideoAccepted } from './media-client';
import { findRecord, taskIdIn } from './find-record';
import { resolveResultUrl } from './result-urls';
import { type HeaderValues } from './retry-after';
import { phaseOf, statusValue } from './status-values';
import { asNumber, asObject, asText, field } from './task-error';
import { type ReadContext, readUsage } from './video-record';

/** A reply to a paid call that the service accepted, besides its body. */
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
 * Reads the image response (contract 2.5): both kinds of items whatever was requested, in order, none omitted
 * (C2.3.6, C2.5.2). Undefined when there is no `data` array: then the result of a paid call is unknown.
 */
export function readImageReply(
  json: JsonValue | undefined,
  { baseUrl, redactor }: ReadContext,
): ImageReply | undefined {
  const reply = asObject(json);
  const data = field(reply, 'data');
  if (!Array.isArray(data)) return undefined;
  const created = asNumber(field(reply, 'created')) ?? -1;
  const usage = field(reply, 'usage');
  const kept = usage === undefined ? undefined : readUsage(usage, redactor);
  return {
    created: Number.isInteger(created) && created >= 0 ? created : null,
    items: data.map((item) => readItem(item, baseUrl)),
    ...(kept === undefined ? {} : { usage: kept }),
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

/** Reads the create reply (C4.6): an id that cannot be part of a path is invalid (row 33). */
export function readVideoReply(json: JsonValue | undefined, reply: AcceptedReply): VideoAccepted | undefined {
  const record = findRecord(json, {});
  const taskId = record && taskIdIn(record);
  if (taskId === undefined) return undefined;
  // Histories and paths contain the id unchanged: an id with content that they must not have is invalid (C5.4a to
  // C5.4c).
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

/** The allow-listed headers of a reply, cleaned and capped (C5.4a). */
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
