import { type buildConnector, type Dispatcher } from 'undici';

/** Each purpose has sockets of its own: a slow download never delays a poll (field notes). */
export type ConnectionPurpose = 'paid' | 'poll' | 'content' | 'media';

export interface ConnectionSettings {
  readonly purpose: ConnectionPurpose;
  /** Largest number of sockets. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Longest silence inside a body. */
  readonly bodyTimeoutMs: number;
  /** Opens direct sockets; used for `media` to check the address behind a name. */
  readonly connector?: buildConnector.connector;
}

/** Opens a dispatcher to one origin. The seam for proxies and tests. */
export type ConnectionFactory = (origin: URL, settings: ConnectionSettings) => Dispatcher;
