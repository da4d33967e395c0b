import { type ConnectionOptions } from '@temporalio/client';

/** Credentials and TLS of an existing server; fits both `Connection.connect` and `NativeConnection.connect`. */
export interface ServerConnectionOptions {
  readonly apiKey?: string;
  readonly tls?: NonNullable<ConnectionOptions['tls']>;
  readonly metadata?: Record<string, string | Buffer>;
}

/** Which step of the search produced a `temporal` executable (architecture: Temporal server). */
export type ExecutableFinder = 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'sdk-download' | 'go-install';

/** A server that somebody else runs: we connect to it and never stop it. */
export interface AddressSource {
  readonly kind: 'address';
  /** host:port */
  readonly address: string;
  readonly namespace: string;
  readonly foundBy: 'TEMPORAL_ADDRESS' | 'TEMPORAL_PROFILE';
  readonly connection: ServerConnectionOptions;
}

/** A `temporal` executable that can start a development server. */
export interface ExecutableSource {
  readonly kind: 'executable';
  readonly path: string;
  /** What `temporal --version` says, without the leading words. */
  readonly version: string;
  readonly foundBy: ExecutableFinder;
}

/** Where a Temporal server comes from (architecture: Temporal server). */
export type TemporalServerSource = AddressSource | ExecutableSource;

/** Environment variables as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Receives one human-readable line without a line break. */
export type ProgressListener = (line: string) => void;
