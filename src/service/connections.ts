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
import { networkCode } from './classify-reply';
import { proxyFor } from './proxy-environment';
import { contentLength, type HeaderValues } from './reply-headers';

/** Forwards every event. undici's own decorator fails on a second response start, such as after a 103. */
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
 * Completes a reply whose body has fully arrived. When a reader is slower than its socket, undici 7.30 pauses at the
 * last byte. If the connection then closes, undici reports it as lost, unless the reply announced the close. A video
 * would be downloaded again, and paid images would be lost. Only Content-Length determines whether a body is complete
 * (RFC 9112, 6.3).
 */
const wholeReply: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new WholeReplyHandler(handler));

/** Error codes when the peer closed the connection, not this client. */
const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

class WholeReplyHandler extends PassingHandler {
  /** Body bytes that have not arrived yet. */
  #left = Infinity;

  override onResponseStart(...event: Parameters<PassingHandler['onResponseStart']>): void {
    const [, statusCode, headers] = event;
    // An interim reply has no body, whatever its headers say.
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

/** The Content-Length. Infinity if it is missing or overridden by a transfer coding. */
function lengthOf(headers: HeaderValues): number {
  return headers['transfer-encoding'] === undefined ? (contentLength(headers) ?? Infinity) : Infinity;
}

/**
 * Aborts a request that receives only interim replies (1xx). Each one restarts undici's timer, so a slow sequence of
 * them could keep a GET open indefinitely. undici's timer still runs after the last one, so a request waits for at most
 * twice its limit, and no extra timer is needed.
 * @param headersTimeoutMs used for requests without their own `headersTimeout`
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
    // The wait for a free socket does not count.
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

/** Timeouts for connecting, for headers and for pauses inside a body. The caller's signal limits the total time. */
const CONNECTION = {
  purpose: 'models',
  connections: 1,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 30_000,
} as const;

/** A reply's body, or the reason why there is none. Never includes the address, which may be private. */
export type PlainReply =
  | { readonly body: NonNullable<Response['body']> }
  | { readonly refused: 'downgraded' }
  | { readonly refused: 'status'; readonly status: number };

export type PlainGet = (
  address: string,
  init?: Pick<RequestInit, 'signal' | 'headers'>,
) => Promise<PlainReply>;

/** The maximum number of redirects to follow, as in browsers. */
const MAX_REDIRECTS = 20;

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Returns a function that GETs a URL without credentials, so the service's key is never sent. It uses the proxy
 * settings in `env`, as calls to the service do. It follows redirects to other URLs but refuses to go from https to
 * http. Rejects like `fetch` when there is no reply.
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
    throw new Error('The URL redirects too many times.');
  };
}

/** Each purpose has its own sockets, so a slow download never delays a poll. */
export type ConnectionPurpose = 'paid' | 'poll' | 'content' | 'media' | 'models';

/** Settings for opening the sockets of one kind of call. */
export interface ConnectionSettings {
  /** What the connections are used for. */
  readonly purpose: ConnectionPurpose;
  /** Maximum number of sockets to one origin. */
  readonly connections: number;
  /** Longest time to open a socket, TLS included. */
  readonly connectTimeoutMs: number;
  /** Longest wait for the reply's headers; 0 when the caller sets its own limit. */
  readonly headersTimeoutMs: number;
  /** Longest pause inside a body; 0 when the caller sets its own limit. */
  readonly bodyTimeoutMs: number;
  /** Opens direct sockets. For `media`, it checks the address that a name resolves to. */
  readonly connector?: buildConnector.connector;
}

/** The sockets for one kind of call with one account. */
export interface Connection {
  /** Sends the request with undici. */
  readonly dispatcher: Dispatcher;
  /** The proxy resolves host names, so a caller that filters addresses must check the name before the request. */
  readonly viaProxy: boolean;
}

/** Opens a connection to one origin. Tests and proxy setups can replace it. May throw for an invalid proxy address. */
export type ConnectionFactory = (origin: URL, settings: ConnectionSettings) => Connection;

/**
 * Opens direct sockets, or a tunnel if the environment sets a proxy. Uses HTTP/1.1 without pipelining, retries or
 * redirects, so a request is sent once or not at all (failure model: What a client can prove, assumption A3).
 */
export function environmentConnections(env: NodeJS.ProcessEnv = process.env): ConnectionFactory {
  return (origin, settings) => {
    // Poll replies do not need `wholeReply`: they are short and always read fast enough.
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

/** Connection options other than the proxy. */
type TunnelOptions = { readonly connections: number; readonly connectTimeoutMs: number } & Pick<
  ProxyAgent.Options,
  'pipelining' | 'allowH2' | 'headersTimeout' | 'bodyTimeout'
>;

/**
 * Tunnels all connections through a proxy (CONNECT), even for http. Only inside a tunnel does the send marker prove
 * that nothing was sent (failure model: row 21). Throws for an invalid proxy address, which the error may include.
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
    // The time left may be fractional, which undici rejects here.
    clientFactory: (origin, connection) =>
      new ProxyPool(origin, { ...connection, headersTimeout: Math.ceil(timeout) }),
  });
}

/** undici drops credentials with only a user name or only a password, but token-based proxies need exactly those. */
function basicToken({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** undici's error codes for a failed CONNECT, mapped to codes that describe the tunnel. */
const TUNNEL_CODES: { readonly [code: string]: string } = {
  UND_ERR_SOCKET: 'UND_ERR_PRX_CLOSED',
  UND_ERR_INFO: 'UND_ERR_PRX_CLOSED',
  UND_ERR_HEADERS_TIMEOUT: 'UND_ERR_CONNECT_TIMEOUT',
};

/**
 * Sockets to the proxy. Replaces the error code when a proxy closes the connection on CONNECT: undici would mistake the
 * original code for an expired keep-alive socket and retry immediately. Retries are up to the caller.
 */
class ProxyPool extends Pool {
  override connect(options: ConnectTo): Promise<Dispatcher.ConnectData>;
  override connect(options: ConnectTo, callback: Connected): void;
  override connect(options: ConnectTo, callback?: Connected): Promise<Dispatcher.ConnectData> | void {
    if (callback !== undefined) return super.connect(options, callback);
    return super.connect(options).catch((error: unknown) => {
      const code = TUNNEL_CODES[networkCode(error)];
      throw code === undefined
        ? error
        : Object.assign(new Error('The proxy did not open a tunnel.'), { code });
    });
  }
}

type ConnectTo = Omit<Dispatcher.ConnectOptions, 'origin'>;
type Connected = (error: Error | null, data: Dispatcher.ConnectData) => void;
