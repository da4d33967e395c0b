import { type JsonValue } from '../domain/json';
import { type TaskPhase } from '../domain/poll-answers';
import { asObject, field, type JsonRecord } from './task-error';

/**
 * Where services of this family put the result, in order of likelihood (test/fixtures/wire, C2.2.7). A new name is one line here;
 * a dot leads into an object.
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
/** Longest URL that is tried; a `data:` URL holds the whole file. */
const MAX_LENGTH = 16_384;
/** Roots of a server's own disk: a path below them is no address (test/fixtures/wire). */
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
 * An address as a service writes it, made absolute: a path of the API keeps the base's prefix, other paths belong
 * to the origin. Undefined for what is no address, such as a path on the server's disk.
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
  } catch {
    return undefined;
  }
}

function textsAt(record: JsonRecord, place: string): string[] {
  let value: JsonValue | undefined = record;
  for (const name of place.split('.')) value = field(asObject(value), name);
  return textsOf(value);
}

/** A text, a list of texts, or objects that hold a `url`. */
function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (Array.isArray(value))
    return value.slice(0, MAX_URLS).flatMap((item) => (Array.isArray(item) ? [] : textsOf(item)));
  const url = field(asObject(value), 'url');
  return typeof url === 'string' ? textsOf(url) : [];
}

/**
 * Every status word that services of this family are known to send (test/fixtures/wire), in lower case with underscores. Only
 * these decide anything (C2.2.2). A new word is one line here.
 */
export const STATUS_WORDS: { readonly [word: string]: Exclude<TaskPhase, 'unknown'> } = {
  queued: 'queued',
  pending: 'queued',
  submitted: 'queued',
  not_start: 'queued',
  preparing: 'queued',
  created: 'queued',
  starting: 'queued',
  unknown: 'queued',
  in_progress: 'in_progress',
  processing: 'in_progress',
  running: 'in_progress',
  generating: 'in_progress',
  completed: 'completed',
  success: 'completed',
  succeeded: 'completed',
  complete: 'completed',
  finished: 'completed',
  done: 'completed',
  failed: 'failed',
  fail: 'failed',
  failure: 'failed',
  error: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
  expired: 'failed',
  deleted: 'failed',
};

/** A map, because a service may send `constructor`. */
const PHASE_OF: ReadonlyMap<string, TaskPhase> = new Map(Object.entries(STATUS_WORDS));

/** Longest status word that is reported, in characters. */
const MAX_WORD = 64;

/** The word as it is reported: lower case, without blanks around it or control characters, capped. */
export function statusWord(value: string): string {
  return value
    .slice(0, MAX_WORD * 4)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim()
    .toLowerCase()
    .slice(0, MAX_WORD);
}

/** Meaning of a status word; `unknown` is reported and is not final (C2.2.2). Blanks and dashes count as underscores. */
export function phaseOf(word: string): TaskPhase {
  return PHASE_OF.get(word.replace(/[ -]/g, '_')) ?? 'unknown';
}
