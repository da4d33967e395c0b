import { type JsonValue } from '../domain/json';
import { asNumber, asObject, asText, field, type JsonRecord } from './task-error';
import { phaseOf, statusWord } from './record-words';

/** Gateways wrap what they got, as an object or as a text, and some of them twice. */
const MAX_DEPTH = 8;
const MAX_VALUES = 500;
const MAX_TEXT = 16_384;

/** Words that bodies of errors use for themselves. */
const OF_ERRORS = /^(?:error|fail|failure|unknown)$/;

/**
 * The record of a task wherever it stands in a reply that is none itself: inside an error, a result or a text. It must
 * name this task; or it is the only record there, is failed, and can be nothing else than a record: the id that the
 * service behind a gateway has for a task is another one. So nobody else's video and no error body is taken for it, nor an
 * attempt that failed within the record of a task that goes on.
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

/** Whether it has what records have and bodies of errors have not. */
export function isMarked(value: JsonRecord): boolean {
  return (
    /^video(?:$|[._])/i.test(asText(field(value, 'object')) ?? '') ||
    ['progress', 'created_at', 'completed_at'].some((name) => asNumber(field(value, name)) !== undefined)
  );
}

/** Whether its word of a state is one that no body of an error has. */
export function isDecisive(value: JsonRecord): boolean {
  return !OF_ERRORS.test(wordIn(value));
}

export function idsOf(value: JsonRecord): string[] {
  return ['id', 'task_id'].flatMap((name) => asText(field(value, name)) ?? []);
}

function hasStatus(value: JsonRecord): boolean {
  return typeof field(value, 'status') === 'string';
}

/** Every object in it, from the outside to the inside. */
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

/** A text that is JSON, or words of a gateway around it. */
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
  return statusWord(asText(field(value, 'status')) ?? '');
}

function phaseIn(value: JsonRecord): ReturnType<typeof phaseOf> {
  return phaseOf(wordIn(value));
}
