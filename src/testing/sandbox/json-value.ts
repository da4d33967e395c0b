/** A JSON object as it came off the wire or goes onto it. */
export type JsonObject = { [name: string]: unknown };

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text or a number as text; anything else, an absent field included, as the empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
