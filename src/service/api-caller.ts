import { type ConnectionFactory } from './connections';
import { createRedactor, type Redactor } from './redact';

/** What every call of one client shares. */
export interface ApiCaller {
  readonly baseUrl: string;
  readonly apiKey: () => string | Promise<string>;
  readonly userAgent: string;
  readonly now: () => number;
  readonly connectionFactory: ConnectionFactory;
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
    return { authorization: `Bearer ${key}`, redactor: createRedactor([key]) };
  } catch {
    return undefined;
  }
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
