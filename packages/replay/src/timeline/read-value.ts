/** Values of payloads: histories of other versions, and of other programs, may hold anything. */
export type Fields = { readonly [name: string]: unknown };

const NONE: Fields = {};

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** ISO 8601; null for anything that is not a time. */
export function timeOf(value: unknown): string | null {
  const ms = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : NaN;
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}

/** Without the fields that are null or empty. */
export function present<T>(facts: { readonly [name: string]: T | null | undefined }): { [name: string]: T } {
  const kept: { [name: string]: T } = {};
  for (const [name, value] of Object.entries(facts))
    if (value !== null && value !== undefined) kept[name] = value;
  return kept;
}
