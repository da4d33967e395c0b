import { throwBug } from '../domain/bug';
import { type JsonValue } from '../domain/json';
import { type TaskError } from '../domain/video-task';
import { errorKind } from './classify-reply';
import { type Redactor } from './redact';

/** The longest code to keep, in characters. */
const MAX_CODE = 100;
/** The maximum nesting depth of errors to read. Gateways wrap upstream errors. */
const MAX_DEPTH = 4;

/** Error fields, most important first. Each may also be in camel case: `failCode` for `fail_code`. */
const CODE_FIELDS = ['code', 'failure_code', 'fail_code', 'error_code', 'reason'];
const TYPE_FIELDS = ['type', 'error_type'];
const TEXT_FIELDS = [
  'message',
  'fail_reason',
  'failure_reason',
  'fail_msg',
  'fail_message',
  'failure_message',
  'error_msg',
  'error_message',
  'msg',
  'detail',
  'title',
  'error_description',
];
/** Fields where an error may contain another error. */
const INNER_FIELDS = ['error', 'errors', 'detail', 'data', 'failure', 'last_error'];
/**
 * Fields that records also use for other purposes. They are used only if the record's other fields contain no error.
 */
const GENERAL_FIELDS = ['code', 'message', 'detail', 'reason'];
/** The fields that records use only for errors. */
const RECORD_FIELDS = [...INNER_FIELDS, ...CODE_FIELDS, 'error_type', ...TEXT_FIELDS].filter(
  (name) => ![...GENERAL_FIELDS, 'data', 'msg', 'title'].includes(name),
);
/** Values of `code` in flat bodies that do not report an error. */
const NO_CODE = /^(?:0|20[01]|ok|succe(?:ss|ed|eded)|null|none)$/i;

/** Whether a flat body's `code` denotes an error. */
export function isErrorCode(code: JsonValue | undefined): boolean {
  const text = asText(code);
  return text !== undefined && !NO_CODE.test(text);
}

interface Found {
  readonly codes: string[];
  readonly types: string[];
  readonly texts: string[];
  /** Signals for the error's kind that are not in a code field. */
  readonly hints: string[];
}

/**
 * Reads an error of any shape (test/fixtures/wire): a record's `error`, or an HTTP reply's body as a JSON value or
 * text. Never throws. An unreadable error is `unknown` with nulls. `httpStatus` is used only as a last resort.
 */
export function readTaskError(
  value: JsonValue | undefined,
  redactor: Redactor,
  httpStatus?: number,
): TaskError {
  return errorIn(value, redactor, { httpStatus });
}

/** Reads the error from a failed task's record. A status such as `nsfw` is used if no other field gives a reason. */
export function readRecordError(record: JsonRecord, status: string, redactor: Redactor): TaskError {
  const read = (names: readonly string[]) => {
    const given = names.flatMap((name) => {
      const value = spelled(record, name);
      return value === undefined ? [] : [[name, value] as const];
    });
    return errorIn(Object.fromEntries(given), redactor, { hint: status });
  };
  const own = read(RECORD_FIELDS);
  return own.code === null && own.message === null ? read(GENERAL_FIELDS) : own;
}

function errorIn(
  value: JsonValue | undefined,
  redactor: Redactor,
  { httpStatus, hint }: { readonly httpStatus?: number | undefined; readonly hint?: string },
): TaskError {
  const found: Found = { codes: [], types: [], texts: [], hints: hint === undefined ? [] : [hint] };
  collect(value, found, 0);
  const text = found.texts.join(' ').slice(0, 4096);
  // A wrapped error's code is more specific than a status that a gateway repeats.
  const code = found.codes.find((one) => !/^[45]\d\d$/.test(one)) ?? found.codes[0] ?? found.types[0];
  const message = found.texts[0] === undefined ? '' : redactor.text(found.texts[0]);
  return {
    kind: errorKind({ codes: found.codes, types: [...found.types, ...found.hints], text, httpStatus }),
    code: code === undefined ? null : redactor.name(code, MAX_CODE) || null,
    message: message === '' ? null : message,
  };
}

function collect(value: JsonValue | undefined, found: Found, depth: number): void {
  if (value === null || depth > MAX_DEPTH) return;
  if (typeof value === 'string') collectText(value, found, depth);
  else if (Array.isArray(value)) collectList(value, found, depth);
  else collectObject(asObject(value), found, depth);
}

function collectText(text: string, found: Found, depth: number): void {
  const trimmed = text.trim();
  if (trimmed === '') return;
  if (/^[{[]/.test(trimmed) && trimmed.length <= 16_384) {
    const inner = tryParse(trimmed);
    if (inner !== undefined) return collect(inner, found, depth + 1);
  }
  if (/^<(?:!doctype|html|head|body|\?xml)/i.test(trimmed)) {
    const title = /<title[^<>]{0,200}>([^<]{1,300})/i.exec(trimmed.slice(0, 16_384))?.[1]?.trim();
    found.texts.push(title === undefined || title === '' ? 'An HTML page.' : `An HTML page: ${title}`);
    return;
  }
  found.texts.push(trimmed);
  // A plain string may be a code.
  if (/^[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*$/.test(trimmed) && trimmed.length <= MAX_CODE)
    found.hints.push(trimmed);
}

/** Reads a plain list of errors or a validation framework's `{detail: [{loc, msg, type}]}`. */
function collectList(list: readonly JsonValue[], found: Found, depth: number): void {
  const places: string[] = [];
  for (const item of list.slice(0, 10)) {
    const record = asObject(item);
    const message = asText(field(record, 'msg'));
    const place = field(record, 'loc');
    if (message === undefined) {
      collect(item, found, depth + 1);
      continue;
    }
    const path = Array.isArray(place) ? place.filter((part) => typeof part !== 'object').join('.') : '';
    places.push(path === '' ? message : `${path}: ${message}`);
    const type = asText(field(record, 'type'));
    if (type !== undefined) found.types.push(type);
    found.hints.push('validation');
  }
  if (places.length > 0) found.texts.push(places.join('; '));
}

function collectObject(record: JsonRecord | undefined, found: Found, depth: number): void {
  // Inner errors come first, because they are more specific.
  for (const name of INNER_FIELDS) {
    const inner = spelled(record, name);
    // As text, `detail` is a message (see TEXT_FIELDS) and `data` may be anything.
    if (typeof inner !== 'string' || (name !== 'data' && name !== 'detail')) collect(inner, found, depth + 1);
  }
  for (const name of CODE_FIELDS) {
    const code = asText(spelled(record, name));
    if (code !== undefined && isErrorCode(code) && looksLikeCode(code)) found.codes.push(code);
  }
  for (const name of TYPE_FIELDS) {
    const type = asText(spelled(record, name));
    if (type !== undefined && looksLikeCode(type)) found.types.push(type);
  }
  for (const name of TEXT_FIELDS) {
    const text = spelled(record, name);
    if (typeof text === 'string') collectText(text, found, depth + 1);
  }
}

/** Whether text can be a code: `reason` and `type` sometimes contain a sentence. */
function looksLikeCode(text: string): boolean {
  return text.length <= MAX_CODE && !/\s/.test(text.trim());
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** An object in external JSON. Its readers accept numbers as strings and strings as numbers; null counts as absent. */

export type JsonRecord = { readonly [name: string]: JsonValue };

export function asObject(value: JsonValue | undefined): JsonRecord | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Reads own fields only, so it never returns Object's `__proto__` or `constructor`. */
export function field(record: JsonRecord | undefined, name: string): JsonValue | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? (record[name] ?? undefined) : undefined;
}

/** Reads a field by its snake-case name, or else by its camel-case name. */
function spelled(record: JsonRecord | undefined, name: string): JsonValue | undefined {
  const inCamelCase = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return field(record, name) ?? field(record, inCamelCase);
}

/** Returns non-empty text, or a number as text. */
export function asText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

const PLAIN_NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** Returns a finite number. Also accepts text that is a number in plain digits. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && PLAIN_NUMBER.test(value) ? Number(value) : undefined;
}
