import { throwBug } from '../domain/bug';
import { type JsonValue } from '../domain/json';
import { asObject, field, type JsonRecord } from './task-error';

/**
 * Fields in which services of this family return the result, most likely first (test/fixtures/wire, C2.2.7). A new name
 * is one entry here; a dot separates nested fields.
 */
export const RESULT_URL_PLACES: readonly string[] = [
  'url',
  'output_url',
  'video_url',
  'result_url',
  'metadata.url',
  'urls',
  'output',
  'video.url',
  'assets.video',
  'output.video_url',
  'content.video_url',
  'data.url',
  'data.result_url',
  'data.video_url',
];

const MAX_URLS = 16;
/** Longest URL that is accepted; a `data:` URL, which contains the whole file, may be longer. */
const MAX_LENGTH = 16_384;
/** Directories of the server's disk: a path below them is not an address (test/fixtures/wire). */
const DISK =
  /^\/(?:tmp|var|home|root|mnt|srv|opt|usr|etc|data|app|workspace|work|users|private|volumes|storage|nfs)\//i;

/** Result URLs of a record, absolute or `data:`, most likely first, without repeats. `baseUrl` is normalised. */
export function resultUrlsOf(record: JsonRecord, baseUrl: string): string[] {
  const urls = RESULT_URL_PLACES.flatMap((place) => textsAt(record, place))
    .map((text) => resolveResultUrl(text, baseUrl))
    .filter((url): url is string => url !== undefined);
  return [...new Set(urls)].slice(0, MAX_URLS);
}

/**
 * Makes an address of a reply absolute: a path of the API is relative to the base address, other paths are relative to
 * its origin. Undefined for text that is not an address, such as a path on the server's disk.
 */
export function resolveResultUrl(text: string, baseUrl: string): string | undefined {
  const value = text.trim();
  if (/^data:[\w.+/-]*[;,]/i.test(value)) return value;
  if (value.length > MAX_LENGTH || /[\s\\\p{Cc}]/u.test(value)) return undefined;
  if (/^https?:\/\//i.test(value)) return parsed(value);
  if (value.startsWith('//')) return parsed(value, baseUrl);
  if (/^\/?(?:v1|generated)\//i.test(value)) return parsed(`${baseUrl}/${value.replace(/^\//, '')}`);
  return value.startsWith('/') && !DISK.test(value) ? parsed(value, baseUrl) : undefined;
}

function parsed(text: string, base?: string): string | undefined {
  try {
    const url = new URL(text, base);
    return url.hostname === '' ? undefined : url.href;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

function textsAt(record: JsonRecord, place: string): string[] {
  let value: JsonValue | undefined = record;
  for (const name of place.split('.')) value = field(asObject(value), name);
  return textsOf(value);
}

/** The texts in a text, a list of texts, or objects with a `url`. */
function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (Array.isArray(value))
    return value.slice(0, MAX_URLS).flatMap((item) => (Array.isArray(item) ? [] : textsOf(item)));
  const url = field(asObject(value), 'url');
  return typeof url === 'string' ? textsOf(url) : [];
}
