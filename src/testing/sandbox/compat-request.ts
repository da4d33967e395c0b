import { isJsonObject, type JsonObject } from './json-value';
import { readNominalSize } from './nominal-size';
import { type SandboxPart } from './sandbox-request';

/**
 * The fields of a multipart body as published clients write them: `a[]` and repeated names are lists, `a[b]` is a field
 * of an object; a file is known by its type, size and hash.
 */
export function formFields(parts: readonly SandboxPart[]): JsonObject {
  const body: JsonObject = {};
  for (const part of parts) {
    const { kind, contentType, bytes, sha256 } = part;
    const value = kind === 'field' ? (part.value ?? '') : { contentType, bytes, sha256 };
    const [, name = part.name, inner] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(part.name) ?? [];
    const old = Object.hasOwn(body, name) ? body[name] : undefined;
    if (inner === undefined) set(body, name, old === undefined ? value : [old, value].flat());
    else if (inner === '') set(body, name, [old ?? [], value].flat());
    else set(body, name, { ...(isJsonObject(old) ? old : {}), [inner]: value });
  }
  return body;
}

/** A create of a published client in the contract's terms: no nulls, numbers as numbers, `size` as its two parts. */
export function compatCreate(body: JsonObject): JsonObject {
  const given = withoutNulls(body);
  const size = typeof given.size === 'string' ? readNominalSize(given.size) : undefined;
  return {
    ...(size === undefined ? {} : { resolution: size.resolution, aspect_ratio: size.aspectRatio }),
    ...given,
    ...numbers(given, ['seconds', 'duration']),
  };
}

/** A generation of a published client in the contract's terms. */
export function compatGeneration(body: JsonObject): JsonObject {
  const given = withoutNulls(body);
  return { ...given, ...numbers(given, ['n']) };
}

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Numbers that arrived as texts. */
function numbers(body: JsonObject, names: readonly string[]): JsonObject {
  const texts = names.filter((name) => typeof body[name] === 'string' && /^\d{1,9}$/.test(body[name]));
  return Object.fromEntries(texts.map((name) => [name, Number(body[name])]));
}

/** An own field whatever its name, `__proto__` included. */
function set(body: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(body, name, { value, enumerable: true, writable: true, configurable: true });
}
