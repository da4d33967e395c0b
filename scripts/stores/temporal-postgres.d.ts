export interface TemporalOnPostgres {
  /** host:port for gRPC. */
  readonly address: string;
  readonly namespace: string;
  readonly version: string;
  readonly databasePort: number;
  /** The server's log, at most 32 MiB together with the previous file. */
  readonly logFile: string;
  /** Process ids of the server and of the database's first process. */
  pids(): { readonly server: number; readonly database: number };
  /** Sends SIGKILL. */
  killServer(): Promise<void>;
  /** Sends SIGKILL to all of the database's processes. */
  killDatabase(): Promise<void>;
  /** Starts it on the same port and folder. Returns when it accepts connections. */
  startDatabase(): Promise<void>;
  /**
   * Starts it on the same ports. The database must be running. Returns when it accepts work. @throws Error with the end
   * of its log
   */
  startServer(): Promise<void>;
  /** Stops both and removes their folders. */
  stop(): Promise<void>;
}

/** @throws Error if there is no PostgreSQL, or neither the server's programs nor a Go toolchain */
export function startTemporalOnPostgres(options?: {
  readonly say?: (line: string) => void;
  /** Dynamic configuration values, in addition to those in temporal-server-config.js. */
  readonly dynamicConfig?: Readonly<Record<string, unknown>>;
}): Promise<TemporalOnPostgres>;
