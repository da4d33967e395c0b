/** A separate PostgreSQL server, on a free port of the loopback interface. */
export interface PostgresServer {
  /** The user is a superuser without a password. */
  readonly url: string;
  readonly port: number;
  /** Its folder: `data`, `log`. */
  readonly dir: string;
  pid(): number;
  /** Sends SIGKILL to all of its processes. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** Returns null if this machine does not have PostgreSQL. */
export function findPostgres(): string | null;

/** Returns options for `spawn`: if this process runs as root, a user other than root. */
export function otherUser(): { readonly uid?: number; readonly gid?: number };

export function startPostgres(options?: {
  readonly settings?: { readonly [name: string]: string | number };
}): Promise<PostgresServer>;
