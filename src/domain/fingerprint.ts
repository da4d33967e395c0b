import { type JsonValue } from './json';
import { type MediaSource, type PaidRequest } from './request';

/**
 * Returns the text whose SHA-256 is a paid request's fingerprint (architecture: Create). It contains the operation,
 * account, model and request fields, with sorted keys, without undefined values, and with stored files replaced by
 * their hashes. It does not contain wait or output options, or the key. `hashOfFile` resolves `{file}` sources to the
 * SHA-256 of their content, so that requests with equal files are equal.
 */
export function fingerprintText(
  paid: PaidRequest,
  account: string | null,
  hashOfFile: (file: string) => string = (file) => `path:${file}`,
): string {
  // Raw fields are the caller's JSON and contain no media sources.
  const { model, fields, ...given } = paid.request;
  return JSON.stringify(
    canonical({
      v: 1,
      operation: paid.operation,
      account,
      model,
      request: { ...(byHash(given, hashOfFile) as object), fields },
    }),
  );
}

function byHash(value: unknown, hashOfFile: (file: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => byHash(item, hashOfFile));
  if (typeof value !== 'object' || value === null) return value;
  const source = value as Partial<Record<'artifact' | 'file', unknown>>;
  if (typeof source.artifact === 'object' && source.artifact !== null) {
    return { sha256: (value as Extract<MediaSource, { artifact: unknown }>).artifact.sha256 };
  }
  if (typeof source.file === 'string' && Object.keys(value).length === 1)
    return { sha256: hashOfFile(source.file) };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, byHash(item, hashOfFile)]));
}

/** Returns the same value with sorted keys and without undefined, so that equal requests produce equal text. */
export function canonical(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return (value ?? null) as JsonValue;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, canonical(item)]));
}
