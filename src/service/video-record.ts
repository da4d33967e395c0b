import { type JsonValue } from '../domain/json';
import { type PolledRecord, type ReportedFacts } from '../domain/poll-answers';
import { type VideoReading } from './media-client';
import { asNumber, asObject, asText, field, type JsonRecord, readTaskError } from './task-error';
import { idsOf, isDecisive, isMarked } from './record-within';
import { type Redactor } from './redact';
import { phaseOf, statusValue } from './status-values';
import { resultUrlsOf } from './result-urls';

/** Largest `usage` that is kept, in characters of JSON: it is written into histories. */
const MAX_USAGE = 4096;
const MAX_FACT = 200;
/** Unix times above this are milliseconds; in seconds, it is a time in the year 5138. */
const LARGEST_SECONDS = 1e11;
const EARLIEST = Date.UTC(2001, 8, 9);
const LATEST = Date.UTC(2200, 0, 1);

const ERROR_FIELDS = [
  'error',
  'fail_reason',
  'failReason',
  'failure_reason',
  'failureReason',
  'failureCode',
  'failure_code',
  'error_code',
  'error_message',
  'failure',
  'last_error',
] as const;
/** General fields, read only when none of `ERROR_FIELDS` is present. */
const GENERAL_ERROR_FIELDS = ['code', 'message', 'detail', 'reason'] as const;

/** Fields of the actual duration, most exact first; numbers may arrive as texts. */
const DURATION_FIELDS = ['actual_duration', 'duration_seconds', 'duration', 'seconds'] as const;

export interface ReadContext {
  /** Normalised base address, for relative result URLs. */
  readonly baseUrl: string;
  readonly redactor: Redactor;
}

/**
 * Reads a task record of any shape (contract 2.2, C2.2.2 to C2.2.8, C9.2); undefined when the value is not a record.
 * Unknown fields are ignored, null is absent, and no value is made up: without a number there is no progress, without a
 * status value the phase is `unknown` and the status is empty.
 */
export function readVideoRecord(json: JsonValue | undefined, context: ReadContext): VideoReading | undefined {
  const found = recordIn(json);
  if (found === undefined) return undefined;
  const status = statusValue(asText(field(found, 'status')) ?? '');
  const phase = phaseOf(status);
  const progress = progressOf(found);
  const usage = usageOf(found, context.redactor);
  const reported = reportedFacts(found, context.redactor);
  const expiresAt = phase === 'completed' ? expiryOf(found) : undefined;
  const error =
    phase === 'failed' || (phase === 'unknown' && field(found, 'error') !== undefined)
      ? readTaskError(errorOf(found), context.redactor)
      : undefined;
  const record: PolledRecord = {
    status: context.redactor.name(status, 64),
    phase,
    ...(progress === undefined ? {} : { progress }),
    ...(usage === undefined ? {} : { usage }),
    ...(reported === undefined ? {} : { reported }),
    ...(error === undefined ? {} : { error }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  const id = field(found, 'id');
  return {
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    record,
    resultUrls: resultUrlsOf(found, context.baseUrl),
  };
}

/**
 * Whether the body of an error reply is a full record: an id and a known status value (test/fixtures/wire: a poll of a
 * failed task may answer with a non-2xx). `{"status": "error", "message": …}` alone is an error body, also with the id
 * of a request.
 */
export function looksLikeRecord(json: JsonValue | undefined, taskId?: string): boolean {
  const found = recordIn(json);
  if (found === undefined) return false;
  const ids = idsOf(found);
  const status = field(found, 'status');
  if (ids.length === 0 || typeof status !== 'string' || phaseOf(statusValue(status)) === 'unknown')
    return false;
  return taskId === undefined || ids.includes(taskId) || isDecisive(found) || isMarked(found);
}

/** The object itself, or the one under `data`, where some gateways put it. */
function recordIn(json: JsonValue | undefined): JsonRecord | undefined {
  const top = asObject(json);
  if (top === undefined || isRecord(top)) return top;
  const inner = asObject(field(top, 'data'));
  return inner !== undefined && isRecord(inner) ? inner : undefined;
}

function isRecord(value: JsonRecord): boolean {
  return (
    asText(field(value, 'status')) !== undefined ||
    (asText(field(value, 'id')) !== undefined && field(value, 'error') === undefined)
  );
}

/** C2.2.3: only a finite number from 0 to 100, or the text of one. */
function progressOf(record: JsonRecord): number | undefined {
  const progress = asNumber(field(record, 'progress'));
  if (progress === undefined || progress < 0 || progress > 100) return undefined;
  return progress === 0 ? 0 : progress;
}

/**
 * Time at which the result expires: Unix time in seconds or milliseconds, or an ISO 8601 date. An expiry before the
 * creation or completion of the task is ignored.
 */
function expiryOf(record: JsonRecord): string | undefined {
  const at = timeOf(field(record, 'expires_at'));
  const doneAt = timeOf(field(record, 'completed_at')) ?? timeOf(field(record, 'created_at'));
  return at === undefined || (doneAt !== undefined && at <= doneAt) ? undefined : new Date(at).toISOString();
}

/** Milliseconds since the Unix epoch; undefined outside the plausible range. */
function timeOf(value: JsonValue | undefined): number | undefined {
  const number = asNumber(value);
  const text = number === undefined && typeof value === 'string' ? value.trim() : '';
  const at =
    number === undefined
      ? /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(text)
        ? Date.parse(text)
        : NaN
      : number > LARGEST_SECONDS
        ? number
        : number * 1000;
  return at >= EARLIEST && at <= LATEST ? at : undefined;
}

function usageOf(record: JsonRecord, redactor: Redactor): JsonValue | undefined {
  const usage = field(record, 'usage');
  if (usage === undefined) return undefined;
  return readUsage(usage, redactor);
}

/**
 * Keeps a small enough `usage`; absent never means free (C1.9). Its texts are redacted, because sidecars and records of
 * submissions must not contain keys or signed URLs (C5.4a, C5.4b).
 */
export function readUsage(usage: JsonValue, redactor: Redactor): JsonValue | undefined {
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

/** The properties of the result that the service reports; never mixed with the requested ones (C2.2.5). */
function reportedFacts(record: JsonRecord, redactor: Redactor): ReportedFacts | undefined {
  const model = asText(field(record, 'model'));
  const resolution = asText(field(record, 'resolution'));
  const durationSeconds = DURATION_FIELDS.map((name) => asNumber(field(record, name))).find(isPositive);
  const fps = [asNumber(field(record, 'fps'))].find(isPositive);
  const facts: ReportedFacts = {
    ...(model === undefined ? {} : { model: redactor.name(model, MAX_FACT) }),
    ...(resolution === undefined ? {} : { resolution: redactor.name(resolution, MAX_FACT) }),
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(fps === undefined ? {} : { fps }),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function isPositive(value: number | undefined): value is number {
  return value !== undefined && value > 0 && value < 1e9;
}

function errorOf(record: JsonRecord): JsonValue {
  const pick = (names: readonly string[]): JsonRecord =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = field(record, name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  const specific = pick(ERROR_FIELDS);
  return Object.keys(specific).length > 0 ? { ...specific } : { ...pick(GENERAL_ERROR_FIELDS) };
}
