import { type SandboxReference } from '../sandbox-model';
import { type JsonSchema } from './json-schema';

/** At least 16 characters, padded, and nothing left over in the last ones. */
const base64 =
  '(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{4})';

/** A reference field of a model: its kind, shape and form (contract 2.1). */
export function referenceSchema({ kind, shape, form, max }: SandboxReference): JsonSchema {
  const patterns = {
    url: '^https?://[^/\\s]+',
    data_url: `^data:${kind}/[^;,]*;base64,${base64}$`,
    base64: `^${base64}$`,
  };
  const one: JsonSchema = { type: 'string', pattern: patterns[form] };
  if (shape === 'string') return one;
  return { type: 'array', items: one, minItems: 1, ...(max === undefined ? {} : { maxItems: max }) };
}
