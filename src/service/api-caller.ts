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

/** A key that can be sent, with the redactor that knows it. It lives for one call. */
export interface Credentials {
  readonly authorization: string;
  readonly redactor: Redactor;
}

/** Undefined when there is no usable key: an empty one, or one that fits into no header. Never throws. */
export async function credentialsOf(caller: ApiCaller): Promise<Credentials | undefined> {
  try {
    const key = (await caller.apiKey()).trim();
    if (!/^[\x21-\x7e]+$/.test(key)) return undefined;
    return { authorization: `Bearer ${key}`, redactor: redactorOf(caller, key) };
  } catch {
    return undefined;
  }
}

const REDACTORS = new WeakMap<ApiCaller, { readonly key: string; readonly redactor: Redactor }>();

/** The same for every call with the same key: its patterns cost more than a poll's texts. */
function redactorOf(caller: ApiCaller, key: string): Redactor {
  const made = REDACTORS.get(caller);
  if (made?.key === key) return made.redactor;
  const redactor = createRedactor([key, ...caller.secrets]);
  REDACTORS.set(caller, { key, redactor });
  return redactor;
}

/** For a reply of anybody: knows the key of the last call, because another host may have heard of it. */
export function redactorFor(caller: ApiCaller): Redactor {
  return REDACTORS.get(caller)?.redactor ?? createRedactor(caller.secrets);
}

/** Headers of a request to the service itself (C5.1). */
export function apiHeaders(
  caller: Pick<ApiCaller, 'userAgent'>,
  { authorization }: Pick<Credentials, 'authorization'>,
): Record<string, string> {
  return {
    authorization,
    'accept-encoding': 'identity',
    'user-agent': caller.userAgent,
  };
}
