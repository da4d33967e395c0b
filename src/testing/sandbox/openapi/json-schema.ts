import { type JsonObject } from '../json-value';

/** A JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = JsonObject;

/** A text that is more than blanks. */
export const someText: JsonSchema = { type: 'string', pattern: '\\S' };

/** A schema of the document by its name. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object whose `required` fields are there; other fields may follow unless it is closed. */
export function object(
  properties: Record<string, JsonSchema>,
  required: readonly string[],
  rest: JsonSchema = {},
): JsonSchema {
  return { type: 'object', required: [...required], properties, ...rest };
}
