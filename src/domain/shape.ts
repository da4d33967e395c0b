import { nearNames, unseenDifference } from './near-names';

/** A problem with a request: the field, the allowed values, and what to do. Nothing was sent. */
export interface ValidationIssue {
  /** Path in the camelCase request, for example `references[1].source`. */
  readonly field: string;
  /** One human-readable sentence. */
  readonly message: string;
  /** Allowed values, if the set is finite. */
  readonly allowed?: readonly string[];
  /** The request field to use instead. */
  readonly instead?: string;
}

/**
 * Checks the shape of values from untyped callers: workflow inputs, and messages that any client can send to any
 * workflow. Without these checks, an exception in workflow code would fail the workflow task repeatedly.
 *
 * @module
 */

/** Returns the problem with a field's value, or undefined if it is a `T`. Never throws. */
export interface Check<out T = unknown> {
  (value: unknown, field: string): ValidationIssue | undefined;
  /** Only for the compiler; never set. */
  readonly checked?: T;
}

/** The fields that an object can have. `true` allows a field whose value is checked elsewhere or not at all. */
export interface Shape {
  readonly [field: string]: true | Check;
}

type FieldsOf<T> = T extends unknown ? keyof T : never;
type FieldOf<T, Field extends PropertyKey> = T extends unknown
  ? Field extends keyof T
    ? T[Field]
    : undefined
  : never;

/** All fields of a type, or of a union's members. A table that `satisfies` this cannot drift from its type. */
export type ShapeOf<T> = { readonly [field in FieldsOf<T>]: true | Check<FieldOf<T, field>> };

/**
 * Returns the first problem with an object. Unknown fields are reported first, because a missing field may be present
 * under another name, and because a misspelled option must not be ignored silently.
 * @param path path of the object, which becomes part of the issue's field
 */
export function shapeIssue(value: unknown, shape: Shape, path = ''): ValidationIssue | undefined {
  if (!isObject(value)) return wrong(path, 'an object');
  // An undefined value counts as absent.
  const unknown = Object.keys(value).find((name) => value[name] !== undefined && !Object.hasOwn(shape, name));
  if (unknown !== undefined) return unknownIssue(unknown, inside(path, shown(unknown)), Object.keys(shape));
  return fieldsIssue(value, shape, path);
}

function fieldsIssue(
  value: Readonly<Record<string, unknown>>,
  shape: Shape,
  path: string,
): ValidationIssue | undefined {
  return first(Object.entries(shape), ([name, check]) =>
    check === true
      ? undefined
      : check(Object.hasOwn(value, name) ? value[name] : undefined, inside(path, name)),
  );
}

/**
 * Returns an issue.
 * @param path empty for the whole input
 */
function wrong(path: string, allowed: string, values?: readonly string[]): ValidationIssue {
  const field = path === '' ? 'input' : path;
  return { field, message: `${field} must be ${allowed}.`, ...(values && { allowed: values }) };
}

const inside = (path: string, name: string): string => `${path}${path === '' ? '' : '.'}${name}`;

function unknownIssue(name: string, field: string, known: readonly string[]): ValidationIssue {
  const [near] = nearNames(name, known, 1);
  const meant = near === undefined ? `Known fields: ${known.join(', ')}.` : `Did you mean ${near}?`;
  return {
    field,
    message: `${field} is not a known field. ${meant}${unseenDifference(name, known)}`,
    allowed: known,
  };
}

/** Makes an untrusted field name printable: truncates it and replaces unusual characters. */
function shown(name: string): string {
  return name.slice(0, 60).replace(/^$|[^\w.$@[\]-]/g, '?');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Builds a check from a predicate.
 * @param allowed completes the sentence `FIELD must be …`
 */
export function must<T>(
  allowed: string,
  fits: (value: unknown) => boolean,
  values?: readonly string[],
): Check<T> {
  return (value, field) => {
    if (fits(value)) return undefined;
    return wrong(field, value === undefined ? `${allowed}. It is missing` : allowed, values);
  };
}

/** Extends a check to allow an absent value. Null does not count as absent, because requests never contain it. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, field) => (value === undefined ? undefined : check(value, field));
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value, field) => (value === null ? undefined : check(value, field));
}

export function objectOf<T>(shape: ShapeOf<T>): Check<T> {
  return (value, field) => shapeIssue(value, shape, field);
}

/**
 * Checks all or part of a message from this package. The sender might run a newer version, so unknown fields are
 * allowed.
 */
export function messageOf<T>(shape: ShapeOf<T>): Check<T> {
  return (value, field) => (isObject(value) ? fieldsIssue(value, shape, field) : wrong(field, 'an object'));
}

/** Checks only an object's field names. Leaves values that are not objects to another check. */
export function namesOf<T>(shape: ShapeOf<T>): Check<T> {
  return (value, field) => (isObject(value) ? shapeIssue(value, shape, field) : undefined);
}

export function partialOf<T>(shape: ShapeOf<T>): ShapeOf<Partial<T>> {
  const fields = Object.entries<true | Check>(shape).map(([field, check]) => [
    field,
    check === true ? check : optional(check),
  ]);
  return Object.fromEntries(fields) as ShapeOf<Partial<T>>;
}

/**
 * Checks a list.
 * @param item checks each item; `true` if the items are checked elsewhere
 */
export function arrayOf<T>(item: true | Check<T>, most: number, least = 0): Check<readonly T[]> {
  const isList = must(
    `a list of ${least === 0 ? 'at most' : `${least} to`} ${most} items`,
    (value) => Array.isArray(value) && within(value.length, least, most),
  );
  return (value, field) =>
    isList(value, field) ??
    (item === true ? undefined : first(value as unknown[], (one, at) => item(one, `${field}[${at}]`)));
}

/** Checks an object with arbitrary field names. Issues never contain the names, which are untrusted. */
export function recordOf<T>(item: Check<T>): Check<{ readonly [name: string]: T }> {
  return (value, field) =>
    isObject(value)
      ? first(Object.values(value), (one) => item(one, inside(field, '*')))
      : wrong(field, 'an object');
}

function first<Item>(
  items: readonly Item[],
  issueOf: (item: Item, at: number) => ValidationIssue | undefined,
): ValidationIssue | undefined {
  for (const [at, item] of items.entries()) {
    const issue = issueOf(item, at);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

export function oneOf<const Value extends string>(...values: readonly Value[]): Check<Value> {
  const allowed = values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
  return must(allowed, (value) => values.some((one) => one === value), values);
}

/** Maximum length of an account, run or file name. */
const MAX_NAME = 255;

/** Checks a field that only our own code sets. */
export const absent: Check<undefined> = (value, field) =>
  value === undefined ? undefined : wrong(field, 'omitted: only continue-as-new sets it');

export function text(most: number): Check<string> {
  return must(
    `a string of at most ${most} characters`,
    (value) => typeof value === 'string' && value.length <= most,
  );
}

export const anyText: Check<string> = text(10_000);

/** Control characters and lone surrogates, which a name cannot contain on the wire. */
// eslint-disable-next-line no-control-regex
const UNUSABLE = /[\u0000-\u001f\u007f]|\p{Cs}/u;

/** Whether a value can be a name: a non-empty, single-line string. */
export function isName(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= most && !UNUSABLE.test(value);
}

/** Checks a name that is used for lookups, such as an account. */
export function name(most: number = MAX_NAME): Check<string> {
  return must(`a single-line string of 1 to ${most} characters`, (value) => isName(value, most));
}

export const isoTime: Check<string> = must(
  'a time such as 2026-11-25T10:00:00Z',
  (value) => typeof value === 'string' && value.length <= 100 && Number.isFinite(Date.parse(value)),
);

export const flag: Check<boolean> = must('true or false', (value) => typeof value === 'boolean');

export const number: Check<number> = must('a number', Number.isFinite);

/** Checks for a literal boolean or number that is the type's only value. */
export function exactly<const Value extends boolean | number>(wanted: Value): Check<Value> {
  return must(String(wanted), (value) => value === wanted);
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Check<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return must(
    `a whole number ${range}`,
    (value) => Number.isSafeInteger(value) && within(value, least, most),
  );
}

export function amount(least: number, most: number = Number.MAX_VALUE): Check<number> {
  const range = most === Number.MAX_VALUE ? `of at least ${least}` : `from ${least} to ${most}`;
  return must(`a number ${range}`, (value) => Number.isFinite(value) && within(value, least, most));
}

const within = (value: unknown, least: number, most: number): boolean =>
  (value as number) >= least && (value as number) <= most;

/** Milliseconds, or a string such as `15m` or `2 days`. At most ten years. */
export type DurationInput = number | string;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Unit names that Temporal accepts. */
const UNITS: readonly (readonly [unit: RegExp, ms: number])[] = [
  [/^(?:ms|msecs?|milliseconds?|)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, SECOND],
  [/^(?:m|mins?|minutes?)$/i, MINUTE],
  [/^(?:h|hrs?|hours?)$/i, HOUR],
  [/^(?:d|days?)$/i, DAY],
  [/^(?:w|weeks?)$/i, 7 * DAY],
  [/^(?:y|yrs?|years?)$/i, 365.25 * DAY],
];

/** Ten years. A Temporal server cannot store a time that is centuries away. */
const LONGEST_MS = 3_653 * DAY;

/**
 * Parses a duration in Temporal's format into milliseconds. Returns undefined for any other input and for more than ten
 * years.
 */
export function milliseconds(input: unknown): number | undefined {
  const ms = typeof input === 'string' ? msOfText(input) : input;
  return typeof ms === 'number' && ms >= 0 && ms <= LONGEST_MS ? Math.round(ms) : undefined;
}

function msOfText(text: string): number | undefined {
  const [, value, unit = ''] = (text.length <= 100 ? /^(\d*\.?\d+) *([a-z]*)$/i.exec(text) : null) ?? [];
  const ms = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
  return value === undefined || ms === undefined ? undefined : Number(value) * ms;
}

/** Checks a duration in milliseconds, the unit of this package's own messages. */
export const durationMs: Check<number> = amount(0, LONGEST_MS);

export const duration: Check<DurationInput> = must(
  'a duration such as "15m" or a number of milliseconds, at most ten years',
  (value) => milliseconds(value) !== undefined,
);
