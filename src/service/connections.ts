import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { wholeReply } from './interceptors';
import { proxyFor } from './proxy-environment';
import { proxyTunnel } from './proxy-tunnel';

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
