import { setTimeout as delay } from 'node:timers/promises';
import { escapeIdentifier, Pool } from 'pg';
import {
  connectFailure,
  FailedStatement,
  postgresError,
  PostgresError,
  READ_ONLY,
  statementFailure,
} from './postgres-error';

/**
 * Returns the table for an address such as `postgres://user@host:5432/database?schema=media`, quoted for a statement.
 * @throws PostgresError if the address is not valid
 */
export function tableOf(url: string): string {
  return tableIn(parse(url).searchParams.get('schema') ?? undefined);
}

/** The error does not repeat the address, which may contain a password. */
function parse(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^postgres(ql)?:$/.test(parsed.protocol)) return parsed;
  throw new PostgresError(
    "The journal's address must be postgres://USER@HOST:PORT/DATABASE. Percent-encode special characters in the password (@ as %40).",
  );
}

/** Returns the journal's only table, quoted for a statement. */
export function tableIn(schema: string | undefined): string {
  return schema === undefined ? TABLE : `${escapeIdentifier(schema)}.${TABLE}`;
}

const TABLE = 'media_journal';

/** The part of `Pool` from the `pg` package that the journal uses. */
export interface PostgresPool {
  /** Checks out a connection. */
  connect(): Promise<PostgresClient>;
  /** Reports the loss of an idle connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The part of `PoolClient` from the `pg` package that the journal uses. */
export interface PostgresClient {
  /** Runs one statement; `query_timeout` is the maximum wait for its answer, in milliseconds. */
  query(statement: { readonly text: string; readonly query_timeout: number }): Promise<unknown>;
  /** Reports the loss of this connection. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener. */
  off(event: 'error', listener: (error: Error) => void): unknown;
  /** Returns the connection to the pool; `true` closes it. */
  release(destroy?: boolean): void;
}

/** A statement's result. */
export interface Answer {
  readonly rows: readonly { readonly [column: string]: unknown }[];
  /** Number of rows found, created, changed or removed. */
  readonly rowCount: number | null;
}

/** How long the server works on one statement before rolling it back, in milliseconds. */
const STATEMENT_MS = 5_000;
/**
 * How long to wait for an answer, in milliseconds. This is longer than the server's limit, which does not apply to a
 * commit that waits for a replica.
 */
const ANSWER_MS = 10_000;
const CONNECT_MS = 5_000;
const CLOSE_MS = 2_000;

const backoffMs = (tries: number): number =>
  Math.min(100 * 2 ** (tries - 1), 1_000) * (0.75 + Math.random() / 2);

/** This package's own pool. Types from `pg` are not exposed, because their declarations are a separate package. */
export interface OwnPool extends PostgresPool {
  readonly ending: boolean;
  end(): Promise<void>;
}

/** Opens a pool that connects on demand and does not keep the process alive. */
export function openPool(url: string, maxConnections: number): OwnPool {
  return new Pool({
    connectionString: url,
    max: maxConnections,
    application_name: 'temporal-media',
    connectionTimeoutMillis: CONNECT_MS,
    // After an answer has timed out, all earlier connections are dropped, because they go to the same lost host.
    idleTimeoutMillis: ANSWER_MS,
    allowExitOnIdle: true,
    keepAlive: true,
  });
}

/**
 * Runs statements, each as one transaction in one message, so that a pooler in transaction mode may send each one to a
 * different server connection. Nothing is prepared, and no setting outlives its transaction.
 */
export class Connections {
  readonly #pool: PostgresPool;
  readonly #patienceMs: number;
  #closed = false;

  constructor(pool: PostgresPool, patienceMs: number) {
    this.#pool = pool;
    this.#patienceMs = patienceMs;
    // An idle connection that breaks leaves the pool automatically. Without this listener, the error would end the
    // process.
    pool.on('error', ignore);
  }

  /**
   * Runs the work, and retries it on another connection as long as that may help and the time limit allows it. The
   * argument of `work` is whether an earlier attempt may have written. @throws PostgresError
   */
  async persist<T>(
    work: (maybeWritten: boolean) => Promise<T>,
    writes: boolean,
    patienceMs = this.#patienceMs,
  ): Promise<T> {
    const lastTry = performance.now() + patienceMs;
    let maybeWritten = false;
    for (let tries = 1; ; tries += 1) {
      try {
        return await work(maybeWritten);
      } catch (error) {
        if (!(error instanceof FailedStatement)) throw error;
        const { failure } = error;
        maybeWritten ||= failure.maybeWritten;
        if (!failure.temporary || performance.now() >= lastTry)
          throw postgresError(failure, writes ? maybeWritten : null);
        await delay(backoffMs(tries));
      }
    }
  }

  /**
   * Runs one statement, without retries.
   * @param durable whether the commit is on disk, and on the synchronous replicas, when this returns
   * @throws FailedStatement
   */
  async run(statement: string, durable = true): Promise<Answer> {
    const client = await this.#checkOut();
    // The failed statement also reports the error. Without a listener, the event would end the process.
    client.on('error', ignore);
    let failed = true;
    try {
      const text = `${preamble(durable)}; ${statement}`;
      const [{ rows }, answer] = (await client.query({ text, query_timeout: ANSWER_MS })) as [Answer, Answer];
      // A pool, or a host name that a failover has moved, may later point to a replica, where reads are stale.
      if (rows[0]?.['standby'] !== false) throw new FailedStatement(READ_ONLY);
      failed = false;
      return answer;
    } catch (error) {
      throw error instanceof FailedStatement ? error : new FailedStatement(statementFailure(error));
    } finally {
      client.release(failed);
      client.off('error', ignore);
    }
  }

  /** Makes all later statements fail. */
  close(): void {
    this.#closed = true;
  }

  /** Checks out a connection with a time limit, because a user's own pool may wait indefinitely. */
  async #checkOut(): Promise<PostgresClient> {
    if (this.#closed) throw new PostgresError('The PostgreSQL journal was closed.');
    const stop = new AbortController();
    const connecting = Promise.resolve().then(() => this.#pool.connect());
    const late = delay(2 * CONNECT_MS, undefined, { signal: stop.signal }).then(() => 'late' as const);
    try {
      const client = await Promise.race([connecting, late]);
      if (client !== 'late') return client;
      connecting.then((unused) => unused.release(), ignore);
      throw new Error('timeout exceeded');
    } catch (error) {
      throw new FailedStatement(connectFailure(error));
    } finally {
      late.catch(ignore);
      stop.abort();
    }
  }
}

/** Ends a pool. Hanging connections are left open until the process ends. */
export async function endPool(pool: OwnPool): Promise<void> {
  await Promise.race([pool.end(), delay(CLOSE_MS, undefined, { ref: false })]);
}

/**
 * Returns the settings for the next statement, which apply until its transaction ends. A role or database may set other
 * values, and `synchronous_commit = off` would lose an acknowledged record.
 */
function preamble(durable: boolean): string {
  return `SELECT set_config('statement_timeout', '${STATEMENT_MS}', true), set_config('synchronous_commit', '${durable ? 'on' : 'off'}', true), pg_is_in_recovery() AS standby`;
}

function ignore(): void {
  // Each caller explains why it ignores the error.
}
