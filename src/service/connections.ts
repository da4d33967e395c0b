import { type buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { wholeReply } from './interceptors';
import { networkCode } from './network-error';
import { proxyFor } from './proxy-environment';

/** Each purpose has its own sockets: a slow download never delays a poll. */
export type ConnectionPurpose = 'paid' | 'poll' | 'content' | 'media' | 'models';

/** How the sockets of one kind of call are opened. */
export interface ConnectionSettings {
  /** The kind of call. */
  readonly purpose: ConnectionPurpose;
  /** Largest number of sockets. */
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
  /** Of the package `undici`. */
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
    if (proxy !== undefined) {
      const { connections, connectTimeoutMs } = settings;
      return {
        viaProxy: true,
        dispatcher: kept(proxyTunnel(proxy, { ...common, connections, connectTimeoutMs })),
      };
    }
    const connect = settings.connector ?? { timeout: settings.connectTimeoutMs };
    return {
      viaProxy: false,
      dispatcher: kept(
        settings.connections === 1
          ? new Client(origin, { ...common, connect })
          : new Pool(origin, { ...common, connect, connections: settings.connections }),
      ),
    };
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
