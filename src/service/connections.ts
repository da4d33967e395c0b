import {
  Agent,
  type buildConnector,
  Client,
  type Dispatcher,
  errors,
  fetch,
  Pool,
  ProxyAgent,
  type RequestInit,
  type Response,
} from 'undici';
import { networkCode } from './errors';
import { proxyFor } from './proxy-environment';
import { contentLength, type HeaderValues } from './reply-headers';

/** Forwards every event. undici's own decorator fails at a second response start, such as one after a 103. */
export class PassingHandler implements Dispatcher.DispatchHandler {
  constructor(protected readonly inner: Dispatcher.DispatchHandler) {}

  onRequestStart(...event: Parameters<Required<Dispatcher.DispatchHandler>['onRequestStart']>): void {
    this.inner.onRequestStart?.(...event);
  }

  onRequestUpgrade(...event: Parameters<Required<Dispatcher.DispatchHandler>['onRequestUpgrade']>): void {
    this.inner.onRequestUpgrade?.(...event);
  }

  onResponseStart(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseStart']>): void {
    this.inner.onResponseStart?.(...event);
  }

  onResponseData(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseData']>): void {
    this.inner.onResponseData?.(...event);
  }

  onResponseEnd(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseEnd']>): void {
    this.inner.onResponseEnd?.(...event);
  }

  onResponseError(...event: Parameters<Required<Dispatcher.DispatchHandler>['onResponseError']>): void {
    this.inner.onResponseError?.(...event);
  }
}

/**
 * Completes a reply whose body has arrived in full. When a reader is slower than its socket, undici pauses at the last
 * byte and reports a connection that closes after it as lost (7.30, unless the reply announces the close): a video
 * would be downloaded again, and paid images would be lost. Decided by Content-Length alone (RFC 9112, 6.3).
 */
const wholeReply: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new WholeReplyHandler(handler));

/** Codes of a close by the other side, not by this client. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

class WholeReplyHandler extends PassingHandler {
  /** Bytes of the body that have not arrived. */
  #left = Infinity;

  override onResponseStart(...event: Parameters<PassingHandler['onResponseStart']>): void {
    const [, statusCode, headers] = event;
    // An interim reply has no body, whatever its headers.
    this.#left = statusCode < 200 ? Infinity : lengthOf(headers);
    super.onResponseStart(...event);
  }

  override onResponseData(...event: Parameters<PassingHandler['onResponseData']>): void {
    this.#left -= event[1].length;
    super.onResponseData(...event);
  }

  override onResponseError(...event: Parameters<PassingHandler['onResponseError']>): void {
    const [controller, error] = event;
    if (this.#left === 0 && CLOSED.has(networkCode(error))) super.onResponseEnd(controller, {});
    else super.onResponseError(...event);
  }
}

/** Infinity without Content-Length, or with a transfer coding, which overrides it. */
function lengthOf(headers: HeaderValues): number {
  return headers['transfer-encoding'] === undefined ? (contentLength(headers) ?? Infinity) : Infinity;
}

/**
 * Ends a request that gets interim replies (1xx) but no reply: each interim reply restarts undici's timer, so that a
 * slow sequence of them could keep a GET open indefinitely. undici's timer still ends the wait after the last one, so
 * that a request waits for at most twice its limit. Needs no timer.
 * @param headersTimeoutMs for requests without their own `headersTimeout`
 */
export function interimLimit(headersTimeoutMs: number): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, new InterimLimitHandler(handler, options.headersTimeout ?? headersTimeoutMs));
}

class InterimLimitHandler extends PassingHandler {
  #startedAt = performance.now();

  constructor(
    inner: Dispatcher.DispatchHandler,
    private readonly limitMs: number,
  ) {
    super(inner);
  }

  override onRequestStart(...event: Parameters<PassingHandler['onRequestStart']>): void {
    // Excludes the wait for a free socket.
    this.#startedAt = performance.now();
    super.onRequestStart(...event);
  }

  override onResponseStart(...event: Parameters<PassingHandler['onResponseStart']>): void {
    const [controller, statusCode] = event;
    if (statusCode < 200 && performance.now() - this.#startedAt > this.limitMs)
      controller.abort(new errors.HeadersTimeoutError());
    else super.onResponseStart(...event);
  }
}

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

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * GETs an address without credentials: the key of the service is never sent. Uses the proxies of `env` by the same
 * rules as calls of the service. Follows redirects to other addresses, but refuses one from https to http before
 * anything is sent there. Rejects like `fetch` when there is no reply.
 */
export function getterWithoutCredentials(env: NodeJS.ProcessEnv): PlainGet {
  const connections = environmentConnections(env);
  const dispatcher = new Agent({ factory: (origin) => connections(new URL(origin), CONNECTION).dispatcher });
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

/** Each purpose has its own sockets: a slow download never delays a poll. */
export type ConnectionPurpose = 'paid' | 'poll' | 'content' | 'media' | 'models';

/** How the sockets of one kind of call are opened. */
export interface ConnectionSettings {
  /** What the connections are used for. */
  readonly purpose: ConnectionPurpose;
  /** Most sockets to one origin. */
  readonly connections: number;
  /** Longest time to open a socket, TLS included. */
  readonly connectTimeoutMs: number;
  /** 0 when the caller limits the time itself. */
  readonly headersTimeoutMs: number;
  /** Longest pause inside a body; 0 when the caller limits the time itself. */
  readonly bodyTimeoutMs: number;
  /** Opens direct sockets; used for `media` to check the address that a name resolves to. */
  readonly connector?: buildConnector.connector;
}

/** The sockets that one kind of call of an account uses. */
export interface Connection {
  /** Sends the request with undici. */
  readonly dispatcher: Dispatcher;
  /** A proxy resolves names itself: a caller that filters addresses must check the name before the request. */
  readonly viaProxy: boolean;
}

/** Opens a connection to one origin; replaceable for proxies and tests. May throw for an invalid proxy address. */
export type ConnectionFactory = (origin: URL, settings: ConnectionSettings) => Connection;

/**
 * Direct sockets, or a tunnel through the proxy of the environment. HTTP/1.1 without pipelining and without retry or
 * redirect interceptors: a request leaves once or not at all (failure model: What a client can prove, assumption A3).
 */
export function environmentConnections(env: NodeJS.ProcessEnv = process.env): ConnectionFactory {
  return (origin, settings) => {
    // Polls do without `wholeReply`: they are short and always read fast enough.
    const kept = (dispatcher: Dispatcher): Dispatcher =>
      settings.purpose === 'poll' ? dispatcher : dispatcher.compose(wholeReply);
    const common = {
      pipelining: 1,
      allowH2: false,
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: settings.bodyTimeoutMs,
    };
    const proxy = proxyFor(origin, env);
    const { connections, connectTimeoutMs } = settings;
    if (proxy !== undefined) {
      const tunnel = proxyTunnel(proxy, { ...common, connections, connectTimeoutMs });
      return { viaProxy: true, dispatcher: kept(tunnel) };
    }
    const direct = { ...common, connect: settings.connector ?? { timeout: connectTimeoutMs } };
    const sockets =
      connections === 1 ? new Client(origin, direct) : new Pool(origin, { ...direct, connections });
    return { viaProxy: false, dispatcher: kept(sockets) };
  };
}

/** Options of a connection besides its proxy. */
type TunnelOptions = { readonly connections: number; readonly connectTimeoutMs: number } & Pick<
  ProxyAgent.Options,
  'pipelining' | 'allowH2' | 'headersTimeout' | 'bodyTimeout'
>;

/**
 * Connections inside tunnels (CONNECT) through a proxy, also for http: only inside a tunnel does the send marker prove
 * that nothing was sent (failure model: row 21). Throws for an invalid proxy address; the error may include it.
 */
function proxyTunnel(proxy: string, { connectTimeoutMs: timeout, ...options }: TunnelOptions): Dispatcher {
  const uri = new URL(proxy);
  const token = basicToken(uri);
  return new ProxyAgent({
    ...options,
    uri: uri.href,
    proxyTunnel: true,
    proxyTls: { timeout },
    requestTls: { timeout },
    ...(token === undefined ? {} : { token }),
    // The rest of a time budget may be a fraction, which undici rejects here.
    clientFactory: (origin, connection) =>
      new ProxyPool(origin, { ...connection, headersTimeout: Math.ceil(timeout) }),
  });
}

/** undici drops credentials that have only a user or only a password; proxies with tokens require exactly these. */
function basicToken({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** Codes of undici for one CONNECT, and what they mean for the tunnel. */
const TUNNEL_CODES: { readonly [code: string]: string } = {
  UND_ERR_SOCKET: 'UND_ERR_PRX_CLOSED',
  UND_ERR_INFO: 'UND_ERR_PRX_CLOSED',
  UND_ERR_HEADERS_TIMEOUT: 'UND_ERR_CONNECT_TIMEOUT',
};

/**
 * Sockets to the proxy. Replaces the error codes of a proxy that closes the connection on CONNECT: undici attributes
 * the original ones to an expired keep-alive socket and would retry without a pause. Retries are up to the caller.
 */
class ProxyPool extends Pool {
  override connect(options: ConnectTo): Promise<Dispatcher.ConnectData>;
  override connect(options: ConnectTo, callback: Connected): void;
  override connect(options: ConnectTo, callback?: Connected): Promise<Dispatcher.ConnectData> | void {
    if (callback !== undefined) return super.connect(options, callback);
    return super.connect(options).catch((error: unknown) => {
      const code = TUNNEL_CODES[networkCode(error)];
      throw code === undefined ? error : Object.assign(new Error('The proxy opened no tunnel.'), { code });
    });
  }
}

type ConnectTo = Omit<Dispatcher.ConnectOptions, 'origin'>;
type Connected = (error: Error | null, data: Dispatcher.ConnectData) => void;
