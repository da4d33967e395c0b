/** A PgBouncer in transaction mode in front of a server. The user is always `media`. */
export interface Pgbouncer {
  readonly url: string;
  readonly port: number;
  pid(): number;
  stop(): Promise<void>;
}

/** Returns null if this machine does not have PgBouncer and cannot get it. */
export function findPgbouncer(): { readonly program: string; readonly env: NodeJS.ProcessEnv } | null;

export function startPgbouncer(options: {
  readonly postgres: { readonly port: number };
  readonly settings?: { readonly [name: string]: string | number };
}): Promise<Pgbouncer>;
