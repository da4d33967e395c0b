/** A JSON object that is received or sent. */
export type JsonObject = { [name: string]: unknown };

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string or a number as a string; anything else, an absent field included, as the empty string. */
export function fieldText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
