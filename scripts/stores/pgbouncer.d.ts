/** A PgBouncer in transaction mode before a server; the user is always `media`. */
export interface Pgbouncer {
  readonly url: string;
  readonly port: number;
  pid(): number;
  stop(): Promise<void>;
}

/** Null where this machine has none and cannot get one. */
export function findPgbouncer(): { readonly program: string; readonly env: NodeJS.ProcessEnv } | null;

export function startPgbouncer(options: {
  readonly postgres: { readonly port: number };
  readonly settings?: { readonly [name: string]: string | number };
}): Promise<Pgbouncer>;
