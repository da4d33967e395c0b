import { createHash } from 'node:crypto';
import { throwBug } from '../domain/bug';

/**
 * The base address of a service in one spelling, without a trailing slash (C0.2, C9.1): scheme and host in lower
 * case, no default port, a path prefix kept, one trailing `/v1` dropped because people paste it.
 * Throws an Error, which never includes the text, for anything but a plain http(s) address.
 */
export function normaliseBaseUrl(text: string): string {
  const url = parse(text.trim());
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error('The base address must start with https:// or http://.');
  if (url.username !== '' || url.password !== '')
    throw new Error('The base address must not hold a user name or a password.');
  if (/[?#]/.test(text)) throw new Error('The base address must not have a query or a fragment.');
  const path = withoutTrailingSlashes(withoutTrailingSlashes(url.pathname).replace(/\/v1$/i, ''));
  return `${url.origin}${path}`;
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch (error) {
    throwBug(error);
    throw new Error('The base address is not a URL; it looks like https://host or https://host/prefix.');
  }
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/**
 * `name@digest` (architecture: Requests): the digest of the address identifies the service, so that after a change of
 * the environment the wrong service is never polled. `baseUrl` may have any spelling.
 */
export function accountName(credential: string, baseUrl: string): string {
  const digest = createHash('sha256').update(normaliseBaseUrl(baseUrl)).digest('hex').slice(0, 8);
  return `${credential}@${digest}`;
}

/**
 * A path below `/v1` of a normalised base address; each segment is percent-encoded (C9.1, failure model: row 33).
 * Throws for a segment that cannot be encoded as one path segment.
 */
export function apiUrl(baseUrl: string, ...segments: readonly string[]): URL {
  return new URL(`${baseUrl}/v1/${segments.map(pathSegment).join('/')}`);
}

/** A percent-encoded path segment. @throws as {@link apiUrl} does */
export function pathSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..')
    throw new Error('A path segment must not be empty, "." or "..".');
  try {
    return encodeURIComponent(segment);
  } catch (error) {
    throwBug(error);
    throw new Error('A path segment must be well-formed text.');
  }
}
