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

/** Redirects that are followed, as browsers do. */
const MAX_REDIRECTS = 20;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * GETs an address without credentials: the key of the service is never sent (C5.3). Uses the proxies of `env` by the
 * same rules as calls of the service. Follows redirects to other addresses, but refuses one from https to http before
 * anything is sent there. Rejects like `fetch` when there is no reply.
 */
export function getterWithoutCredentials(env: NodeJS.ProcessEnv): PlainGet {
  const connections = environmentConnections(env);
  const dispatcher = new Agent({
    factory: (origin) => connections(new URL(origin), CONNECTION).dispatcher,
  });
  return async (address, init = {}) => {
    let url = new URL(address);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      // No cookies are stored or sent.
      const response = await fetch(url, { ...init, dispatcher, credentials: 'omit', redirect: 'manual' });
      if (response.ok && response.body !== null) return { body: response.body };
      await response.body?.cancel();
      const { status, headers } = response;
      const location = headers.get('location');
      if (!REDIRECTS.has(status) || location === null || !URL.canParse(location, url.href))
        return { refused: 'status', status };
      const next = new URL(location, url);
      if (url.protocol === 'https:' && next.protocol !== 'https:') return { refused: 'downgraded' };
      url = next;
    }
    throw new Error('The address redirects too often.');
  };
}
