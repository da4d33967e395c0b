import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { networkCode } from './network-error';

/** Options of a connection besides its proxy. */
type TunnelOptions = { readonly connections: number; readonly connectTimeoutMs: number } & Pick<
  ProxyAgent.Options,
  'pipelining' | 'allowH2' | 'headersTimeout' | 'bodyTimeout'
>;

/**
 * Connections inside tunnels (CONNECT) through a proxy, also for http: only inside a tunnel does the send marker prove
 * that nothing was sent (failure model: row 21). Throws for an invalid proxy address; the error may include it.
 */
export function proxyTunnel(
  proxy: string,
  { connectTimeoutMs: timeout, ...options }: TunnelOptions,
): Dispatcher {
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
