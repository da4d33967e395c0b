import { type JsonValue } from '../domain/json';
import { readBase64, readDataUrl } from './data-url';
import { asNumber, asObject, field } from './json-read';
import { resolveResultUrl } from './result-urls';
import { type ImageItem } from './send-result';
import { type ReadContext, readUsage } from './video-record';

/** Largest image that is decoded, in bytes. */
const MAX_IMAGE = 192 * 1024 * 1024;

export interface ImageReply {
  readonly created: number | null;
  readonly items: readonly ImageItem[];
  readonly usage?: JsonValue;
}

/**
 * Reads the image response (contract 2.5): both kinds of items whatever was asked for, in order, none left out
 * (C2.3.6, C2.5.2). Undefined when there is no `data` array: then nobody knows what happened to a paid call.
 */
export function readImageReply(
  json: JsonValue | undefined,
  { baseUrl, redactor }: ReadContext,
): ImageReply | undefined {
  const reply = asObject(json);
  const data = field(reply, 'data');
  if (!Array.isArray(data)) return undefined;
  const created = asNumber(field(reply, 'created'));
  const usage = field(reply, 'usage');
  const kept = usage === undefined ? undefined : readUsage(usage, redactor);
  return {
    created: created !== undefined && Number.isInteger(created) && created >= 0 ? created : null,
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
    const data = /^\s*data:/i.test(base64)
      ? readDataUrl(base64.trim(), MAX_IMAGE)
      : readBase64(base64, MAX_IMAGE);
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
