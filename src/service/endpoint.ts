import { createHash } from 'node:crypto';
import { otherwise, throwBug } from '../domain/bug';
import { type ConnectionFactory } from './connections';
import { createRedactor, type Redactor } from './redact';

/**
 * Normalizes a service's base address: lowercase scheme and host, no default port, no trailing slash. Keeps a path
 * prefix but drops one trailing `/v1`, because people paste it. Throws for anything but a plain http(s) address; the
 * error never includes the text.
 */
export function normaliseBaseUrl(text: string): string {
  const url = parse(text.trim());
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error('The base address must start with https:// or http://.');
  if (url.username !== '' || url.password !== '')
    throw new Error('The base address must not contain a user name or a password.');
  if (/[?#]/.test(text)) throw new Error('The base address must not contain a query or a fragment.');
  const path = withoutTrailingSlashes(withoutTrailingSlashes(url.pathname).replace(/\/v1$/i, ''));
  return `${url.origin}${path}`;
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch (error) {
    throwBug(error);
    throw new Error('The base address is not a URL. Use the format https://host or https://host/prefix.');
  }
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/**
 * Returns `name@digest` (architecture: Requests). The digest of the address identifies the service, so a changed
 * environment never causes polls of the wrong service. `baseUrl` need not be normalized.
 */
export function accountName(credential: string, baseUrl: string): string {
  const digest = createHash('sha256').update(normaliseBaseUrl(baseUrl)).digest('hex').slice(0, 8);
  return `${credential}@${digest}`;
}

/**
 * Builds a URL below `/v1` of a normalized base address and percent-encodes each segment (failure model: row 33).
 * Throws for text that cannot be encoded as one path segment.
 */
export function apiUrl(baseUrl: string, ...segments: readonly string[]): URL {
  return new URL(`${baseUrl}/v1/${segments.map(pathSegment).join('/')}`);
}

/** Percent-encodes one path segment. @throws as {@link apiUrl} does */
export function pathSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..')
    throw new Error('A path segment must not be empty, "." or "..".');
  try {
    return encodeURIComponent(segment);
  } catch (error) {
    throwBug(error);
    throw new Error('A path segment must be well-formed Unicode.');
  }
}

/** The values that all calls of one client share. */
export interface ApiCaller {
  readonly baseUrl: string;
  readonly apiKey: () => string | Promise<string>;
  readonly userAgent: string;
  readonly now: () => number;
  readonly connectionFactory: ConnectionFactory;
  /** Other secrets to redact: proxy passwords and other accounts' keys. Returns the same array until it changes. */
  readonly secrets: () => readonly string[];
}

/** The key setting for a service that needs no key. No request carries it. */
export const NO_KEY = 'none';

/** The secrets to redact for a key. `NO_KEY` is not a secret. */
export function keySecrets(key: string): readonly string[] {
  return key === NO_KEY || key === '' ? [] : [key];
}

/** A usable key and the redactor that removes it, for one call. */
export interface Credentials {
  /** Undefined for a service without keys. */
  readonly authorization: string | undefined;
  readonly redactor: Redactor;
}

/** Reads the key for a call. Undefined if it is empty or not valid in a header. Never throws. */
export async function credentialsOf(caller: ApiCaller): Promise<Credentials | undefined> {
  return readCredentials(caller).catch(otherwise(undefined));
}

async function readCredentials(caller: ApiCaller): Promise<Credentials | undefined> {
  const key = ((await caller.apiKey()) as string | undefined)?.trim() ?? '';
  if (!/^[\x21-\x7e]+$/.test(key)) return undefined;
  if (key === NO_KEY) return { authorization: undefined, redactor: redactorOf(caller, undefined) };
  return { authorization: `Bearer ${key}`, redactor: redactorOf(caller, key) };
}

interface MadeRedactor {
  readonly key: string | undefined;
  readonly secrets: readonly string[];
  readonly redactor: Redactor;
}

const REDACTORS = new WeakMap<ApiCaller, MadeRedactor>();

/**
 * Returns the same redactor for every call with the same key, because compiling the patterns costs more than redacting
 * one poll's texts.
 */
function redactorOf(caller: ApiCaller, key: string | undefined): Redactor {
  const made = REDACTORS.get(caller);
  const secrets = caller.secrets();
  if (made !== undefined && made.key === key && made.secrets === secrets) return made.redactor;
  const redactor = createRedactor(key === undefined ? secrets : [key, ...secrets]);
  REDACTORS.set(caller, { key, secrets, redactor });
  return redactor;
}

/** Returns a redactor for replies from any host. It removes the last key, which another host may have learned. */
export function redactorFor(caller: ApiCaller): Redactor {
  const made = REDACTORS.get(caller);
  return made === undefined ? createRedactor(caller.secrets()) : redactorOf(caller, made.key);
}

/** Headers for a request to the service. They include the key, unless the service needs none. */
export function apiHeaders(
  caller: Pick<ApiCaller, 'userAgent'>,
  { authorization }: Pick<Credentials, 'authorization'>,
): Record<string, string> {
  return {
    ...(authorization !== undefined && { authorization }),
    'accept-encoding': 'identity',
    'user-agent': caller.userAgent,
  };
}

/** Whether a request to this URL carries the key. Only the service's own origin receives it, even after a redirect. */
export function receivesKey({ baseUrl }: Pick<ApiCaller, 'baseUrl'>, url: URL): boolean {
  return url.origin === new URL(baseUrl).origin;
}
