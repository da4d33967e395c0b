/** Removes undefined fields. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** A value that survives JSON unchanged, and is allowed in a Temporal payload or a request body. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

const NAME = '__proto__';
/**
 * Matches text that might contain the name `__proto__`, written out or with escapes. Only such text needs a reviver,
 * which is slow because it is called for every value.
 */
const MAY_NAME_IT = /__proto__|\\u/;

/**
 * Parses JSON without fields called `__proto__`. If such a field were copied by assignment, it would become the copy's
 * prototype.
 * @param onProto called for such a field; without it, the field is dropped
 * @throws SyntaxError as `JSON.parse` does, and whatever `onProto` throws
 */
export function parseOwnJson(text: string, onProto?: () => never): JsonValue {
  const drop = (name: string, value: unknown): unknown => {
    if (name !== NAME) return value;
    onProto?.();
    return undefined;
  };
  return JSON.parse(text, MAY_NAME_IT.test(text) ? drop : undefined) as JsonValue;
}

/** Matches property names with their colons, other strings, and braces in valid JSON. */
const STRUCTURE = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}]/g;

/**
 * Yields the path of every name that occurs twice in the same object, starting with the outermost object. `JSON.parse`
 * silently uses the last value.
 * @param text valid JSON
 */
export function* repeatedNames(text: string): Generator<readonly string[]> {
  const open: { readonly names: Set<string>; last: string }[] = [];
  for (const [sign, written = '', colon] of text.matchAll(STRUCTURE)) {
    if (sign === '{') open.push({ names: new Set(), last: '' });
    else if (sign === '}') open.pop();
    else if (colon !== undefined) {
      const inner = open.at(-1)!;
      inner.last = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
      if (inner.names.has(inner.last)) yield open.map(({ last }) => last);
      inner.names.add(inner.last);
    }
  }
}

/** Reports that an object in handwritten JSON contains a name twice, so it is unclear which value is meant. */
export class RepeatedNameError extends Error {
  override readonly name = 'RepeatedNameError';

  constructor(path: readonly string[]) {
    super(`contains ${path.join('.')} twice`);
  }
}

/**
 * Parses handwritten JSON, with or without a byte order mark.
 * @throws SyntaxError, RepeatedNameError
 */
export function parseWrittenJson(text: string): JsonValue {
  const value = JSON.parse(text.replace(/^\ufeff/, '')) as JsonValue;
  for (const path of repeatedNames(text)) throw new RepeatedNameError(path);
  return value;
}
