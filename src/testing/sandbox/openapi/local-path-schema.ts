import { type JsonSchema, ref } from './json-schema';

/** What `localPathFields` looks for (contract 2.4); JSON Schema patterns know no flag for lower and upper case. */
const localPath = '^([Ff][Ii][Ll][Ee]:|[A-Za-z]:[\\\\/]|\\\\\\\\|~/|\\.{1,2}/|/(?!/))';

/** A text that is no local path. */
export const noLocalPath: JsonSchema = { type: 'string', not: { pattern: localPath } };

const inside = [
  ref('NoLocalPath'),
  { type: ['number', 'boolean', 'null'] },
  { type: 'array', items: ref('AnyValue') },
  { type: 'object', additionalProperties: ref('AnyValue') },
];

/** Schemas for free fields, by name: any JSON without a local path in it, with or without null at the top. */
export const freeSchemas: Record<string, JsonSchema> = {
  NoLocalPath: noLocalPath,
  AnyValue: { anyOf: inside },
  FreeValue: { anyOf: inside, not: { type: 'null' } },
};
