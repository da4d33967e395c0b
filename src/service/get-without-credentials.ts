import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { environmentConnections } from './connections';

/** Longest wait for a connection or tunnel, for headers and inside a body; a caller's signal limits the total time. */
const CONNECTION = {
  purpose: 'models',
  connections: 1,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 30_000,
} as const;

/** The body of a reply, or why there is none. Never includes the address, which may be private. */
export type PlainReply =
  | { readonly body: NonNullable<Response['body']> }
  | { readonly refused: 'downgraded' }
  | { readonly refused: 'status'; readonly status: number };

export type PlainGet = (
  address: string,
  init?: Pick<RequestInit, 'signal' | 'headers'>,
) => Promise<PlainReply>;

/**
 * GETs an address without credentials: the key of the service is never sent (C5.3). Uses the proxies of `env` by the
 * same rules as calls of the service. Follows redirects to other addresses, but refuses one from https to http. Rejects
 * like `fetch` when there is no reply.
 */
export function getterWithoutCredentials(env: NodeJS.ProcessEnv): PlainGet {
  const connections = environmentConnections(env);
  const dispatcher = new Agent({
    factory: (origin) => connections(new URL(origin), CONNECTION).dispatcher,
  });
  return async (address, init = {}) => {
    // No cookies are stored or sent.
    const response = await fetch(address, { ...init, dispatcher, credentials: 'omit' });
    const downgraded = /^https:/i.test(address) && !/^https:/i.test(response.url);
    if (response.ok && !downgraded && response.body !== null) return { body: response.body };
    await response.body?.cancel();
    return downgraded ? { refused: 'downgraded' } : { refused: 'status', status: response.status };
  };
}
