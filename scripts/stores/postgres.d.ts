/** A PostgreSQL server of its own, on a free port of the loopback interface. */
export interface PostgresServer {
  /** The user may do anything; there is no password. */
  readonly url: string;
  readonly port: number;
  /** Its folder: `data`, `log`. */
  readonly dir: string;
  pid(): number;
  /** SIGKILL of all its processes. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Null where this machine has no PostgreSQL. */
export function findPostgres(): string | null;

/** For `spawn`: a user who is not root, where this is root. */
export function otherUser(): { readonly uid?: number; readonly gid?: number };

export function startPostgres(options?: {
  readonly settings?: { readonly [name: string]: string | number };
}): Promise<PostgresServer>;
