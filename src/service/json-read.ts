import { type JsonValue } from '../domain/json';

/** Reads single values of a foreign JSON text with tolerance: numbers as strings and the other way round, null = absent. */

export type JsonRecord = { readonly [name: string]: JsonValue };

export function asObject(value: JsonValue | undefined): JsonRecord | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** An own field, so that `__proto__` and `constructor` of the text or of Object are never read by accident. */
export function field(record: JsonRecord | undefined, name: string): JsonValue | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? (record[name] ?? undefined) : undefined;
}

/** A non-empty text, or a number as text. */
export function asText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

const PLAIN_NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** A finite number, or a text that is exactly one in plain digits. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && PLAIN_NUMBER.test(value) ? Number(value) : undefined;
}
