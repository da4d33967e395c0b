import { otherwise } from '../domain/bug';
import { type ConnectionFactory } from './connections';
import { createRedactor, type Redactor } from './redact';

/** The values that all calls of one client share. */
export interface ApiCaller {
  readonly baseUrl: string;
  readonly apiKey: () => string | Promise<string>;
  readonly userAgent: string;
  readonly now: () => number;
  readonly connectionFactory: ConnectionFactory;
  /** Secrets to redact besides the key: passwords of proxies, keys of other accounts. The same object while unchanged. */
  readonly secrets: () => readonly string[];
}

/** Value of the key for a service that needs no key: no request carries one. */
export const NO_KEY = 'none';

/** The secrets to redact for a key; `NO_KEY` is not a secret. */
export function keySecrets(key: string): readonly string[] {
  return key === NO_KEY || key === '' ? [] : [key];
}

/** A key that can be sent, and the redactor that removes it. Used for one call. */
export interface Credentials {
  /** Undefined for a service without keys. */
  readonly authorization: string | undefined;
  readonly redactor: Redactor;
}

/** Undefined when there is no usable key: it is empty, or not valid in a header. Never throws. */
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

/** Reused for every call with the same key: compiling its patterns costs more than redacting the texts of a poll. */
function redactorOf(caller: ApiCaller, key: string | undefined): Redactor {
  const made = REDACTORS.get(caller);
  const secrets = caller.secrets();
  if (made !== undefined && made.key === key && made.secrets === secrets) return made.redactor;
  const redactor = createRedactor(key === undefined ? secrets : [key, ...secrets]);
  REDACTORS.set(caller, { key, secrets, redactor });
  return redactor;
}

/** For a reply of any host: removes the key of the last call, because another host may have learnt it. */
export function redactorFor(caller: ApiCaller): Redactor {
  const made = REDACTORS.get(caller);
  return made === undefined ? createRedactor(caller.secrets()) : redactorOf(caller, made.key);
}

/** Headers of a request to the service: they include the key (C5.1), unless the service needs none. */
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

/**
 * Whether a request to this URL carries the key: only the service's own origin receives it, also after a redirect (C5.3).
 */
export function receivesKey({ baseUrl }: Pick<ApiCaller, 'baseUrl'>, url: URL): boolean {
  return url.origin === new URL(baseUrl).origin;
}
