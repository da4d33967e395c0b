import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type ConnectionSettings } from './connections';
import { networkCode } from './network-error';

/** What a connection needs besides its proxy. */
export type TunnelOptions = Pick<ConnectionSettings, 'connections' | 'connectTimeoutMs'> &
  Pick<ProxyAgent.Options, 'pipelining' | 'allowH2' | 'headersTimeout' | 'bodyTimeout'>;

/**
 * Connections inside tunnels (CONNECT) through a proxy, also for http: only inside a tunnel does the marker prove that
 * nothing was sent (failure model: row 21). Throws for an address that is none; the error may repeat it.
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
    // What is left of a budget may be a fraction, which undici refuses here.
    clientFactory: (origin, connection) =>
      new ProxyPool(origin, { ...connection, headersTimeout: Math.ceil(timeout) }),
  });
}

/** undici leaves out credentials that are a user or a password alone; proxies with tokens want just that. */
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
 * Sockets to the proxy. With its own codes a proxy that hangs up on CONNECT would be asked again and again without a
 * pause: undici takes them for those of a keep-alive socket that grew old. Whoever wants another try makes one.
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
