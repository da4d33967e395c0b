import { type ConnectionFactory } from './connections';
import { createRedactor, type Redactor } from './redact';

/** What every call of one client shares. */
export interface ApiCaller {
  readonly baseUrl: string;
  readonly apiKey: () => string | Promise<string>;
  readonly userAgent: string;
  readonly now: () => number;
  readonly connectionFactory: ConnectionFactory;
  /** What must not be shown besides the key: the passwords of proxies. */
  readonly secrets: readonly string[];
}

/** What stands in the place of a key where a service wants none: then no request carries one. */
export const NO_KEY = 'none';

/** What must not be shown of a key: the word that stands for none is no secret. */
export function keySecrets(key: string): readonly string[] {
  return key === NO_KEY || key === '' ? [] : [key];
}

/** A key that can be sent, with the redactor that knows it. It lives for one call. */
export interface Credentials {
  /** Undefined for a service without keys. */
  readonly authorization: string | undefined;
  readonly redactor: Redactor;
}

/** Undefined when there is no usable key: an empty one, or one that fits into no header. Never throws. */
export async function credentialsOf(caller: ApiCaller): Promise<Credentials | undefined> {
  try {
    const key = (await caller.apiKey()).trim();
    if (!/^[\x21-\x7e]+$/.test(key)) return undefined;
    if (key === NO_KEY) return { authorization: undefined, redactor: redactorOf(caller, undefined) };
    return { authorization: `Bearer ${key}`, redactor: redactorOf(caller, key) };
  } catch {
    return undefined;
  }
}

const REDACTORS = new WeakMap<ApiCaller, { readonly key: string | undefined; readonly redactor: Redactor }>();

/** The same for every call with the same key: its patterns cost more than a poll's texts. */
function redactorOf(caller: ApiCaller, key: string | undefined): Redactor {
  const made = REDACTORS.get(caller);
  if (made !== undefined && made.key === key) return made.redactor;
  const redactor = createRedactor([...(key === undefined ? [] : [key]), ...caller.secrets]);
  REDACTORS.set(caller, { key, redactor });
  return redactor;
}

/** For a reply of anybody: knows the key of the last call, because another host may have heard of it. */
export function redactorFor(caller: ApiCaller): Redactor {
  return REDACTORS.get(caller)?.redactor ?? createRedactor(caller.secrets);
}

/** Headers of a request to the service itself: all carry the key (C5.1), unless the service has none. */
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
