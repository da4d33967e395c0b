/** A value that survives JSON unchanged: what may cross a Temporal payload or a request body. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

const NAME = '__proto__';
/** Written out or with escapes. A function that is called for every value is slow, and hardly any text needs it. */
const MAY_NAME_IT = /__proto__|\\u/;

/**
 * `JSON.parse` without fields called `__proto__`: copied by assignment, one would become the prototype of the copy.
 * @param onProto called where there is one; left out: it is dropped
 * @throws SyntaxError as `JSON.parse` does, and what `onProto` throws
 */
export function parseOwnJson(text: string, onProto?: () => never): JsonValue {
  const drop = (name: string, value: unknown): unknown => {
    if (name !== NAME) return value;
    onProto?.();
    return undefined;
  };
  return JSON.parse(text, MAY_NAME_IT.test(text) ? drop : undefined) as JsonValue;
}
