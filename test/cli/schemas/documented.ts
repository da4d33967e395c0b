import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { type Documents } from '../../../packages/cli/src/schema/command';

const SCHEMAS = path.join(__dirname, '..', '..', '..', 'packages', 'cli', 'lib', 'schemas');

/** The JSON Schemas that the build made, as `schema` prints them, by name in the order of their files. */
export const DOCUMENTS = Object.fromEntries(
  readdirSync(SCHEMAS).map((file) => [
    path.basename(file, '.json'),
    JSON.parse(readFileSync(path.join(SCHEMAS, file), 'utf8')) as object,
  ]),
) as { readonly [Name in keyof Documents]: object };

/** Unknown keywords and doubtful schemas are errors. */
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
const closedValidators = new Map<object, ValidateFunction>();

/** What is wrong with a value by a schema; empty when nothing is. */
export function problemsOf(schema: object, value: unknown): readonly string[] {
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Fails unless a value is what a schema describes and holds nothing that the schema does not name. */
export function expectValid(schema: object, value: unknown): void {
  const validate = closedValidators.get(schema) ?? ajv.compile(closed(schema) as object);
  closedValidators.set(schema, validate);
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

/** The same for a document that the build describes; returns it with its type. */
export function expectDocumented<Name extends keyof Documents>(name: Name, value: unknown): Documents[Name] {
  expectValid(DOCUMENTS[name], value);
  return value as Documents[Name];
}

/** The schema without what later versions may add. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, closed(value)]),
  );
  return typeof inner['properties'] === 'object' && inner['type'] === 'object'
    ? { additionalProperties: false, ...inner }
    : inner;
}
