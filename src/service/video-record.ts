import { throwBug } from '../domain/bug';
import { given, type JsonValue } from '../domain/json';
import { type ActualRule } from '../domain/model-config';
import { type Money, readActual, valueAt } from '../domain/money';
import { type PolledRecord, type ReportedFacts, type TaskPhase } from '../domain/poll-answers';
import { type VideoReading } from './media-client';
import { type Redactor } from './redact';
import { asNumber, asObject, asText, field, type JsonRecord, readRecordError } from './task-error';

/**
 * All status values that services in this family are known to send (test/fixtures/wire), in lower case with
 * underscores. Other values have no effect (C2.2.2). To support a new value, add one entry.
 */
export const STATUS_VALUES: { readonly [word: string]: Exclude<TaskPhase, 'unknown'> } = {
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
  rejected: 'failed',
  timed_out: 'failed',
  timeout: 'failed',
  aborted: 'failed',
  moderated: 'failed',
  nsfw: 'failed',
};

/** A Map, because a service may send `constructor` as a status. */
const PHASE_OF: ReadonlyMap<string, TaskPhase> = new Map(Object.entries(STATUS_VALUES));

/** The longest status value to report, in characters. */
const MAX_WORD = 64;

/** Prepares a status value for reports: lower case, trimmed, truncated, without control characters. */
export function statusValue(value: string): string {
  return value
    .slice(0, MAX_WORD * 4)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim()
    .toLowerCase()
    .slice(0, MAX_WORD);
}

/** A status value's phase. `unknown` is reported but not final. Spaces and dashes count as underscores. */
export function phaseOf(word: string): TaskPhase {
  return PHASE_OF.get(word.replace(/[ -]/g, '_')) ?? 'unknown';
}

/**
 * Fields where services in this family return the result, most likely first (test/fixtures/wire). A dot separates
 * nested fields. To support a new name, add one entry.
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
/** The longest URL to accept. A `data:` URL may be longer, because it contains the whole file. */
const MAX_LENGTH = 16_384;
/** Directories on a server's disk. A path below them is not a URL path (test/fixtures/wire). */
const DISK =
  /^\/(?:tmp|var|home|root|mnt|srv|opt|usr|etc|data|app|workspace|work|users|private|volumes|storage|nfs)\//i;

/** A record's result URLs, absolute or `data:`, most likely first, without duplicates. `baseUrl` must be normalized. */
export function resultUrlsOf(record: JsonRecord, baseUrl: string): string[] {
  const urls = RESULT_URL_PLACES.flatMap((place) => textsAt(record, place))
    .map((text) => resolveResultUrl(text, baseUrl))
    .filter((url): url is string => url !== undefined);
  return [...new Set(urls)].slice(0, MAX_URLS);
}

/**
 * Makes a reply's URL absolute. API paths are relative to the base address; other paths are relative to its origin.
 * Undefined for text that is not a URL, such as a path on the server's disk.
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

/** Collects the strings from a string, a list of strings, or objects with a `url`. */
function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (Array.isArray(value))
    return value.slice(0, MAX_URLS).flatMap((item) => (Array.isArray(item) ? [] : textsOf(item)));
  const url = field(asObject(value), 'url');
  return typeof url === 'string' ? textsOf(url) : [];
}

/** The largest `usage` to keep, in JSON characters, because it is written into histories. */
const MAX_USAGE = 4096;
const MAX_FACT = 200;
/** Larger Unix times must be in milliseconds: as seconds, this would be the year 5138. */
const LARGEST_SECONDS = 1e11;
const EARLIEST = Date.UTC(2001, 8, 9);
const LATEST = Date.UTC(2200, 0, 1);

/** Fields that report a result withheld by moderation, with the value that indicates it. */
const WITHHELD: { readonly [name: string]: boolean } = {
  respect_moderation: false,
  moderation_blocked: true,
};

/** Fields with the actual duration, most exact first. Their values may be numbers or text. */
const DURATION_FIELDS = ['actual_duration', 'duration_seconds', 'duration', 'seconds'] as const;

export interface ReadContext {
  /** The normalized base address, for relative result URLs. */
  readonly baseUrl: string;
  readonly redactor: Redactor;
  /** Where the reply says what the call cost. @default nowhere */
  readonly actual?: ActualRule | undefined;
}

/**
 * Reads a task record of any shape (contract 2.2). Ignores unknown fields, treats null as absent and never invents a
 * value: without a number there is no progress, and without a status the phase is `unknown` and the status empty.
 */
export function readVideoRecord(
  found: JsonRecord,
  { baseUrl, redactor, actual: rule }: ReadContext,
): VideoReading {
  const status = statusValue(asText(field(found, 'status')) ?? '');
  const resultUrls = resultUrlsOf(found, baseUrl);
  const flag = resultUrls.length === 0 ? withheldBy(found) : undefined;
  const phase = phaseOf(status) === 'completed' && flag !== undefined ? 'failed' : phaseOf(status);
  const progress = progressOf(found);
  const usage = readUsage(found, redactor);
  const actual = phase === 'completed' || phase === 'failed' ? amountAt(found, rule) : undefined;
  const reported = reportedFacts(found, redactor);
  const expiresAt = phase === 'completed' ? expiryOf(found) : undefined;
  const error =
    phase === 'failed' || (phase === 'unknown' && field(found, 'error') !== undefined)
      ? readRecordError(flag === undefined ? found : { ...found, error_code: flag }, status, redactor)
      : undefined;
  const record: PolledRecord = {
    status: redactor.name(status, 64),
    phase,
    ...given({ progress, usage, actual, reported, error, expiresAt }),
  };
  const id = field(found, 'id');
  return { ...(typeof id === 'string' && id !== '' ? { id } : {}), record, resultUrls };
}

/** The name of the flag, in a record or in its `video`, that shows that moderation withholds the result. */
function withheldBy(record: JsonRecord): string | undefined {
  const places = [record, asObject(field(record, 'video'))];
  return Object.keys(WITHHELD).find((name) => places.some((place) => field(place, name) === WITHHELD[name]));
}

/** The progress, if it is a number from 0 to 100 or such a number as text. */
function progressOf(record: JsonRecord): number | undefined {
  const progress = asNumber(field(record, 'progress'));
  if (progress === undefined || progress < 0 || progress > 100) return undefined;
  return progress === 0 ? 0 : progress;
}

/**
 * When the result expires. Accepts Unix time in seconds or milliseconds, or an ISO 8601 date. Ignores an expiry that
 * precedes the task's creation or completion.
 */
function expiryOf(record: JsonRecord): string | undefined {
  const at = timeOf(field(record, 'expires_at'));
  const doneAt = timeOf(field(record, 'completed_at')) ?? timeOf(field(record, 'created_at'));
  return at === undefined || (doneAt !== undefined && at <= doneAt) ? undefined : new Date(at).toISOString();
}

/** Converts a time to milliseconds since the Unix epoch. Undefined outside the plausible range. */
function timeOf(value: JsonValue | undefined): number | undefined {
  const number = asNumber(value);
  const text = number === undefined && typeof value === 'string' ? value.trim() : '';
  const isDate = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(text);
  const ofDate = isDate ? Date.parse(text) : NaN;
  const at = number === undefined ? ofDate : number > LARGEST_SECONDS ? number : number * 1000;
  return at >= EARLIEST && at <= LATEST ? at : undefined;
}

/** Reads what a call cost at its rule's path; undefined if that is unknown. */
export function amountAt(reply: JsonRecord | undefined, rule: ActualRule | undefined): Money | undefined {
  return rule?.path === undefined ? undefined : readActual(rule, valueAt(reply, rule.path));
}

/**
 * Returns `usage` if it is small enough. A missing `usage` never means that the task was free. Redacts its texts,
 * because sidecars and journal entries must not contain keys or signed URLs.
 */
export function readUsage(record: JsonRecord | undefined, redactor: Redactor): JsonValue | undefined {
  const usage = field(record, 'usage');
  if (usage === undefined) return undefined;
  const text = JSON.stringify(usage);
  if (text.length > MAX_USAGE || text.includes('__proto__')) return undefined;
  return cleaned(usage, redactor);
}

function cleaned(value: JsonValue, redactor: Redactor): JsonValue {
  if (typeof value === 'string') return redactor.name(value, MAX_FACT);
  if (Array.isArray(value)) return value.map((item: JsonValue) => cleaned(item, redactor));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [redactor.name(name, MAX_FACT), cleaned(inner, redactor)]),
  );
}

/** The result's properties as the service reports them, never mixed with the requested ones. */
function reportedFacts(record: JsonRecord, redactor: Redactor): ReportedFacts | undefined {
  const model = asText(field(record, 'model'));
  const resolution = asText(field(record, 'resolution'));
  const durationSeconds = DURATION_FIELDS.map((name) => asNumber(field(record, name))).find(isPositive);
  const fps = [asNumber(field(record, 'fps'))].find(isPositive);
  const facts: ReportedFacts = {
    ...(model === undefined ? {} : { model: redactor.name(model, MAX_FACT) }),
    ...(resolution === undefined ? {} : { resolution: redactor.name(resolution, MAX_FACT) }),
    ...given({ durationSeconds, fps }),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function isPositive(value: number | undefined): value is number {
  return value !== undefined && value > 0 && value < 1e9;
}
