import { type JsonObject } from '../json-value';

/** A JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = JsonObject;

/** A string that is not blank. */
export const someText: JsonSchema = { type: 'string', pattern: '\\S' };

/** A reference to a schema of the document. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object schema; other fields are allowed unless `rest` forbids them. */
export function object(
  properties: Record<string, JsonSchema>,
  required: readonly string[],
  rest: JsonSchema = {},
): JsonSchema {
  return { type: 'object', required: [...required], properties, ...rest };
}
