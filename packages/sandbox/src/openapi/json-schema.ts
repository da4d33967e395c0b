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

/** The pattern of `localPathFields` (contract 2.4); JSON Schema patterns have no flag to ignore case. */
const localPath = '^([Ff][Ii][Ll][Ee]:|[A-Za-z]:[\\\\/]|\\\\\\\\|~/|\\.{1,2}/|/(?!/))';

/** A string that is not a local path. */
export const noLocalPath: JsonSchema = { type: 'string', not: { pattern: localPath } };

const inside = [
  ref('NoLocalPath'),
  { type: ['number', 'boolean', 'null'] },
  { type: 'array', items: ref('AnyValue') },
  { type: 'object', additionalProperties: ref('AnyValue') },
];

/** Schemas of free fields: any JSON that contains no local path; `FreeValue` excludes null at the top level. */
export const freeSchemas: Record<string, JsonSchema> = {
  NoLocalPath: noLocalPath,
  AnyValue: { anyOf: inside },
  FreeValue: { anyOf: inside, not: { type: 'null' } },
};
