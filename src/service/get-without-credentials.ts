import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { environmentConnections } from './connections';

/** Longest wait for a tunnel or a connection, for headers and inside a body; a caller's signal limits the whole. */
const CONNECTION = {
  purpose: 'models',
  connections: 1,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 30_000,
} as const;

/** A reply whose body can be read, or why there is none: without the address, which may be private. */
export type PlainReply =
  | { readonly body: NonNullable<Response['body']> }
  | { readonly refused: 'downgraded' }
  | { readonly refused: 'status'; readonly status: number };

export type PlainGet = (
  address: string,
  init?: Pick<RequestInit, 'signal' | 'headers'>,
) => Promise<PlainReply>;

/**
 * GETs an address without any credentials of ours: the key of the service never goes there (C5.3). Proxies are those of
 * `env`, by the same rules as for calls of the service; a redirect may lead to another one, and never from https to http.
 * Rejects as `fetch` does when nobody answers.
 */
export function getterWithoutCredentials(env: NodeJS.ProcessEnv): PlainGet {
  const connections = environmentConnections(env);
  const dispatcher = new Agent({
    factory: (origin) => connections(new URL(origin), CONNECTION).dispatcher,
  });
  return async (address, init = {}) => {
    // Not a browser: no cookies are kept between calls, and none is sent.
    const response = await fetch(address, { ...init, dispatcher, credentials: 'omit' });
    const downgraded = /^https:/i.test(address) && !/^https:/i.test(response.url);
    if (response.ok && !downgraded && response.body !== null) return { body: response.body };
    await response.body?.cancel();
    return downgraded ? { refused: 'downgraded' } : { refused: 'status', status: response.status };
  };
}
