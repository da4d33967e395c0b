/** A JSON object, received or sent. */
export type JsonObject = { [name: string]: unknown };

/** Whether a value is a JSON object: not null and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a string or a number as a string, and the empty string for anything else, including an absent field. */
export function fieldText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Returns a copy without the fields that are null. */
export function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
