import { type JsonValue } from '../domain/json';
import { asNumber, asObject, asText, field, type JsonRecord } from './task-error';
import { phaseOf, statusValue } from './status-values';

/** Gateways wrap the reply that they receive, as an object or as text, and some of them twice. */
const MAX_DEPTH = 8;
const MAX_VALUES = 500;
const MAX_TEXT = 16_384;

/** Status values that error bodies also use. */
const OF_ERRORS = /^(?:error|fail|failure|unknown)$/;

/**
 * Finds the record of a task inside a reply that is not a record: in an error, a result or text. The record must have
 * the id of this task; or it must be the only record in the reply, be failed, and have fields that error bodies lack,
 * because the service behind a gateway uses another id. This excludes the video of another task, an error body, and a
 * failed attempt inside the record of a task that continues.
 */
export function recordWithin(reply: JsonValue | undefined, taskId: string): JsonRecord | undefined {
  const values = objectsIn(reply);
  const candidates = values.filter((one) => hasStatus(one) && phaseIn(one) !== 'unknown');
  const own = candidates.find((one) => idsOf(one).includes(taskId) && (isMarked(one) || isDecisive(one)));
  if (own !== undefined) return own;
  const [only, ...others] = candidates;
  if (only === undefined || others.length > 0 || !isMarked(only) || phaseIn(only) !== 'failed')
    return undefined;
  const isOfTask = values.some(
    (one) =>
      one !== only && (hasStatus(one) || one === values[0]) && (idsOf(one).includes(taskId) || isMarked(one)),
  );
  return isOfTask ? undefined : only;
}

/** Whether it has fields that records have and error bodies do not. */
export function isMarked(value: JsonRecord): boolean {
  return (
    /^video(?:$|[._])/i.test(asText(field(value, 'object')) ?? '') ||
    ['progress', 'created_at', 'completed_at'].some((name) => asNumber(field(value, name)) !== undefined)
  );
}

/** Whether its status value is one that no error body uses. */
export function isDecisive(value: JsonRecord): boolean {
  return !OF_ERRORS.test(wordIn(value));
}

export function idsOf(value: JsonRecord): string[] {
  return ['id', 'task_id'].flatMap((name) => asText(field(value, name)) ?? []);
}

function hasStatus(value: JsonRecord): boolean {
  return typeof field(value, 'status') === 'string';
}

/** Every object in the reply, outermost first. */
function objectsIn(reply: JsonValue | undefined): JsonRecord[] {
  const found: JsonRecord[] = [];
  const queue: { readonly value: JsonValue | undefined; readonly depth: number }[] = [
    { value: reply, depth: 0 },
  ];
  for (let next = 0; next < queue.length && next < MAX_VALUES; next++) {
    const { value, depth } = queue[next] as (typeof queue)[number];
    const record = asObject(value);
    if (record !== undefined) found.push(record);
    if (depth < MAX_DEPTH && queue.length < MAX_VALUES)
      queue.push(...insideOf(value).map((inner) => ({ value: inner, depth: depth + 1 })));
  }
  return found;
}

function insideOf(value: JsonValue | undefined): JsonValue[] {
  if (typeof value === 'string') return jsonIn(value);
  if (Array.isArray(value)) return value.slice(0, MAX_VALUES);
  return typeof value === 'object' && value !== null ? Object.values(value).slice(0, MAX_VALUES) : [];
}

/** The JSON object in a text, with or without text of a gateway around it. */
function jsonIn(text: string): JsonValue[] {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to <= from || to - from >= MAX_TEXT) return [];
  try {
    return [JSON.parse(text.slice(from, to + 1)) as JsonValue];
  } catch {
    return [];
  }
}

function wordIn(value: JsonRecord): string {
  return statusValue(asText(field(value, 'status')) ?? '');
}

function phaseIn(value: JsonRecord): ReturnType<typeof phaseOf> {
  return phaseOf(wordIn(value));
}
