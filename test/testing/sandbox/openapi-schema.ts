import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { type JsonObject } from '../../../packages/sandbox/src/json-value';
import { openapiDocument } from '../../../packages/sandbox/src/openapi/document';
import { type SandboxMode } from '../../../packages/sandbox/src/options';

/** Schemas of a mode's OpenAPI document, compiled. */
export interface OpenapiSchemas {
  /** What the schema of a request body, by name, says against a value; empty when it is good. */
  request(name: string, value: unknown): string[];
  /** What the document says against a reply; fields that it does not name count as wrong. */
  reply(path: string, method: 'get' | 'post', status: number, value: unknown): string[];
}

/** Compiles the document of a mode as ajv reads it, with every object of a reply closed. */
export function openapiSchemas(mode: SandboxMode): OpenapiSchemas {
  const document = openapiDocument(mode);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(document, 'open');
  ajv.addSchema(closed(document) as JsonObject, 'closed');
  const compiled = new Map<string, ValidateFunction>();
  const errors = (id: string, value: unknown): string[] => {
    const check = compiled.get(id) ?? ajv.compile({ $ref: id });
    compiled.set(id, check);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  return {
    request: (name, value) => errors(`open#/components/schemas/${name}`, value),
    reply: (path, method, status, value) => {
      const replies = at(document, ['paths', path, method, 'responses']);
      const named = at(replies, [String(status)]) === undefined ? 'default' : String(status);
      const ref = at(replies, [named, '$ref']);
      const place = [
        ...(typeof ref === 'string' ? ref.slice(2).split('/') : ['paths', path, method, 'responses', named]),
        'content',
        'application/json',
        'schema',
      ];
      if (at(document, place) === undefined) return [`${method} ${path} ${status} is not in the document`];
      return errors(`closed#/${place.map(escaped).join('/')}`, value);
    },
  };
}

function at(value: unknown, place: readonly string[]): unknown {
  return place.reduce<unknown>((inner, name) => (inner as JsonObject | undefined)?.[name], value);
}

function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Every object schema with properties takes no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]));
  return inner.type === 'object' && inner.properties !== undefined
    ? { additionalProperties: false, ...inner }
    : inner;
}
