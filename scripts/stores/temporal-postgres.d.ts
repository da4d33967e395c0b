export interface TemporalOnPostgres {
  /** host:port for gRPC. */
  readonly address: string;
  readonly namespace: string;
  readonly version: string;
  readonly databasePort: number;
  /** What the server says, at most 32 MiB with its predecessor beside it. */
  readonly logFile: string;
  /** Of the server, and of the first process of the database. */
  pids(): { readonly server: number; readonly database: number };
  /** SIGKILL. */
  killServer(): Promise<void>;
  /** SIGKILL of all processes of the database. */
  killDatabase(): Promise<void>;
  /** On the same port and folder. Returns when it takes connections. */
  startDatabase(): Promise<void>;
  /** On the same ports; the database must run. Returns when it takes work. @throws Error with the end of its log */
  startServer(): Promise<void>;
  /** Ends both and removes their folders. */
  stop(): Promise<void>;
}

/** @throws Error where there is no PostgreSQL, or neither the programs of the server nor a Go toolchain */
export function startTemporalOnPostgres(options?: {
  readonly say?: (line: string) => void;
  /** Values of the dynamic configuration, beside those of temporal-server-config.js. */
  readonly dynamicConfig?: Readonly<Record<string, unknown>>;
}): Promise<TemporalOnPostgres>;
