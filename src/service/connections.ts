import ipaddr from 'ipaddr.js';
import { type buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { wholeReply } from './interceptors';
import { networkCode } from './network-error';

/** Each purpose has sockets of its own: a slow download never delays a poll (field notes). */
export type ConnectionPurpose = 'paid' | 'poll' | 'content' | 'media' | 'models';

export interface ConnectionSettings {
  readonly purpose: ConnectionPurpose;
  /** Largest number of sockets. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** 0 when the caller keeps the time itself. */
  readonly headersTimeoutMs: number;
  /** Longest silence inside a body; 0 when the caller keeps the time itself. */
  readonly bodyTimeoutMs: number;
  /** Opens direct sockets; used for `media` to check the address behind a name. */
  readonly connector?: buildConnector.connector;
}

export interface Connection {
  readonly dispatcher: Dispatcher;
  /** A proxy resolves names by itself: whoever filters addresses must look at the name before. */
  readonly viaProxy: boolean;
}

/** Opens a way to one origin. The seam for proxies and tests. May throw for a proxy address that is none. */
export type ConnectionFactory = (origin: URL, settings: ConnectionSettings) => Connection;

/**
 * Direct sockets, or a tunnel through the proxy that the environment names. HTTP/1.1 without pipelining and without
 * retry or redirect interceptors: a request leaves once or not at all (failure model: What a client can prove, assumption A3).
 */
export function environmentConnections(env: NodeJS.ProcessEnv = process.env): ConnectionFactory {
  return (origin, settings) => {
    // Thousands of polls a second are never read so slowly that it matters.
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

/** The proxy for an origin by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, lower case first; undefined means direct. */
export function proxyFor(origin: URL, env: NodeJS.ProcessEnv): string | undefined {
  const http = setting(env, 'http_proxy');
  const proxy = origin.protocol === 'https:' ? (setting(env, 'https_proxy') ?? http) : http;
  if (proxy === undefined || isExempt(origin, setting(env, 'no_proxy') ?? '')) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

/** What opens the proxies that the environment names, as it stands there and decoded; never shown (C5.4a). */
export function proxySecrets(env: NodeJS.ProcessEnv): string[] {
  const userInfos = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => {
    // By the last @ and not as a URL: a password with an odd character is one all the same.
    const userInfo = /^(?:[^/@]*:\/\/)?(.+)@/.exec(setting(env, name) ?? '')?.[1];
    return userInfo === undefined ? [] : [userInfo];
  });
  const parts = userInfos.map((userInfo) => userInfo.slice(userInfo.indexOf(':') + 1));
  return [...new Set([...parts, ...parts.map(decoded)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function setting(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/**
 * Entries: `*`, `host`, `.suffix`, `*.suffix`, each with an optional `:port`; a plain host covers its subdomains. A
 * range such as `10.0.0.0/8` covers hosts that are addresses; names are not resolved for it.
 */
function isExempt(origin: URL, noProxy: string): boolean {
  const host = origin.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  const port = origin.port === '' ? (origin.protocol === 'https:' ? '443' : '80') : origin.port;
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return isWithin(host, entry);
      const parts = /^(\[[^\]]+\]|[^:]+|[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:]*)(?::(\d+))?$/.exec(entry);
      if (parts?.[1] === undefined || (parts[2] !== undefined && parts[2] !== port)) return false;
      const name = parts[1].replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
      return host === name || host.endsWith(`.${name}`);
    });
}

function isWithin(host: string, range: string): boolean {
  if (!ipaddr.isValid(host) || !ipaddr.isValidCIDR(range)) return false;
  const address = ipaddr.process(host);
  const [base, bits] = ipaddr.parseCIDR(range);
  return address.kind() === base.kind() && address.match(base, bits);
}

/** What a connection needs besides its proxy. */
type TunnelOptions = Pick<ConnectionSettings, 'connections' | 'connectTimeoutMs'> &
  Pick<ProxyAgent.Options, 'pipelining' | 'allowH2' | 'headersTimeout' | 'bodyTimeout'>;

/**
 * Connections inside tunnels (CONNECT) through a proxy, also for http: only inside a tunnel does the marker prove that
 * nothing was sent (failure model: row 21). Throws for an address that is none; the error may repeat it.
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
