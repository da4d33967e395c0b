import { type JsonValue } from './json';
import { type MediaSource, type PaidRequest } from './request';

/**
 * The text whose SHA-256 is the fingerprint of a paid request (architecture: Create): operation, account, model and
 * the given fields, with keys sorted, undefined dropped and stored files as their hash; without wait, output or key.
 * `hashOfFile` resolves `{file}` sources to the SHA-256 of their bytes, so that the same bytes are the same request.
 */
export function fingerprintText(
  paid: PaidRequest,
  account: string | null,
  hashOfFile: (file: string) => string = (file) => `path:${file}`,
): string {
  // Raw fields are the caller's own JSON and contain no media sources.
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

/** The same value with sorted keys and without undefined: equal requests become equal texts. */
export function canonical(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return (value ?? null) as JsonValue;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, canonical(item)]));
}
