import { escapeLiteral } from 'pg';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { type RecordStore } from 'temporal-media/stores';
import { commentOf, TABLE_VERSION, tableVersion } from './migrate-table';
import { Connections, endPool, openPool, type PostgresPool, tableIn, tableOf } from './postgres-connections';
import { PostgresError, NOT_GRANTED, NOT_MIGRATED } from './postgres-error';

/** Where the records are stored: an address, or your own pool. */
export type PostgresRecordsOptions = {
  /**
   * How long a statement is retried, in milliseconds. A server restart takes seconds, a failover half a minute. The
   * last attempt may take 20 more seconds. @default 30000
   */
  readonly patienceMs?: number;
} & (
  | {
      /**
       * `postgres://user@host:5432/database`. `?schema=` names the table's schema; without it, the search path applies.
       * `sslmode`, `application_name` and the other parameters work as in the `pg` package. If the address has no
       * password, PGPASSWORD and PGPASSFILE are used.
       */
      readonly url: string;
      /** Maximum number of connections, opened on demand. @default 10 */
      readonly maxConnections?: number;
    }
  | {
      /** A `Pool` from the `pg` package, version 8.11 or later. {@link RecordStore.close} leaves it open. */
      readonly pool: PostgresPool;
      /** The table's schema. @default the connection's search path */
      readonly schema?: string;
    }
);

/** Records in a PostgreSQL table. */
export interface PostgresRecords extends RecordStore {
  /**
   * Checks that the journal can be stored here, on a durable primary server with this version's table. Makes one
   * attempt. The store's first use makes the same check, with retries. @throws PostgresError that says what to change
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates a record store in the `media_journal` table, which {@link migratePostgres} creates. Any number of hosts may
 * use it, including through PgBouncer in transaction mode. Connects on first use. If the server is unreachable or busy,
 * it retries, then throws a {@link PostgresError}. PostgreSQL cannot store text with a NUL character, so such text is
 * rejected.
 */
export function createPostgresRecords(options: PostgresRecordsOptions): PostgresRecords {
  const table = 'url' in options ? tableOf(options.url) : tableIn(options.schema);
  const ownPool = 'url' in options ? openPool(options.url, options.maxConnections ?? 10) : undefined;
  const connections = new Connections(
    'url' in options ? (ownPool as PostgresPool) : options.pool,
    options.patienceMs ?? 30_000,
  );
  const records = new RecordsTable(connections, table);
  return {
    kind: 'postgres',
    check: () => records.check(0),
    read: (name) => records.read(name),
    readMany: (names) => records.readMany(names),
    readAll: (prefix) => records.readAll(prefix),
    names: (prefix, after, limit) => records.names(prefix, after, limit),
    create: (name, text) => records.create(name, text),
    note: (name, text) =>
      text === null ? records.drop(name).catch(otherwise(undefined)) : records.overwrite(name, text),
    remove: (name) => records.remove(name),
    close: async () => {
      connections.close();
      if (ownPool !== undefined && !ownPool.ending) await endPool(ownPool);
    },
  };
}

interface Row {
  readonly name: string;
  readonly body: string;
}

/** Statements on the journal's table. The first one is sent after the database has been checked. */
class RecordsTable {
  #accepted = false;
  readonly #connections: Connections;
  /** Quoted for a statement. */
  readonly #table: string;

  constructor(connections: Connections, table: string) {
    this.#connections = connections;
    this.#table = table;
  }

  async check(patienceMs?: number): Promise<void> {
    await this.#connections.persist(() => refuseUnsafe(this.#connections, this.#table), false, patienceMs);
    this.#accepted = true;
  }

  async read(name: string): Promise<string | null> {
    const [row] = await this.#rows(`SELECT body FROM ${this.#table} WHERE name = ${escapeLiteral(name)}`);
    return row?.body ?? null;
  }

  async readMany(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const listed = names.map((name) => escapeLiteral(name)).join(', ');
    if (listed === '') return new Map();
    const found = await this.#rows(`SELECT name, body FROM ${this.#table} WHERE name IN (${listed})`);
    return new Map(found.map(({ name, body }) => [name, body]));
  }

  async readAll(prefix: string): Promise<ReadonlyMap<string, string>> {
    const found = await this.#rows(
      `SELECT name, body FROM ${this.#table} WHERE ${begins(prefix)} ORDER BY name`,
    );
    return new Map(found.map(({ name, body }) => [name, body]));
  }

  async names(prefix: string, after: string | null, limit: number): Promise<readonly string[]> {
    const later = after === null ? '' : ` AND name > ${escapeLiteral(after)}`;
    const found = await this.#rows(
      `SELECT name FROM ${this.#table} WHERE ${begins(prefix)}${later} ORDER BY name LIMIT ${Math.trunc(limit)}`,
    );
    return found.map(({ name }) => name);
  }

  async create(name: string, text: string): Promise<'won' | 'lost'> {
    if (text.includes('\0'))
      throw new PostgresError('PostgreSQL cannot store a record with a NUL character. Nothing was changed.');
    if (!this.#accepted) await this.check();
    const insert = this.#insert(name, text);
    const { rowCount } = await this.#connections.persist(
      (maybeWritten) => this.#connections.run(`${insert} ${maybeWritten ? OWN_AGAIN : 'NOTHING'}`),
      true,
    );
    return rowCount === 1 ? 'won' : 'lost';
  }

  /** Writes a hint without waiting for the disk. */
  async overwrite(name: string, text: string): Promise<void> {
    if (!this.#accepted) await this.check();
    const statement = `${this.#insert(name, text)} UPDATE SET body = excluded.body, at = now()`;
    await this.#connections.persist(() => this.#connections.run(statement, false), true);
  }

  /** Removes a hint in one attempt, without waiting for the disk. */
  async drop(name: string): Promise<void> {
    if (!this.#accepted) await this.check(0);
    await this.#connections.run(this.#delete(name), false);
  }

  async remove(name: string): Promise<void> {
    if (!this.#accepted) await this.check();
    await this.#connections.persist(() => this.#connections.run(this.#delete(name)), true);
  }

  async #rows(statement: string): Promise<readonly Row[]> {
    if (!this.#accepted) await this.check();
    const answer = await this.#connections.persist(() => this.#connections.run(statement), false);
    return answer.rows as unknown as readonly Row[];
  }

  /** Returns an INSERT up to its conflict action, which the caller adds. */
  #insert(name: string, text: string): string {
    return `INSERT INTO ${this.#table} AS old (name, body) VALUES (${escapeLiteral(name)}, ${escapeLiteral(text)}) ON CONFLICT (name) DO`;
  }

  #delete(name: string): string {
    return `DELETE FROM ${this.#table} WHERE name = ${escapeLiteral(name)}`;
  }
}

/**
 * After an attempt whose answer was lost, overwrites a record that has our own text: one row changes if and only if the
 * record is ours. It writes instead of reading because its commit ensures that the previous commit is durable too. A
 * commit that was cut off while it waited for a replica can be read before the replica has it.
 */
const OWN_AGAIN = 'UPDATE SET body = excluded.body WHERE old.body = excluded.body';

/** Returns the condition for names that begin with this prefix, in byte order. */
function begins(prefix: string): string {
  if (prefix === '') return 'true';
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  return `name >= ${escapeLiteral(prefix)} AND name < ${escapeLiteral(end)}`;
}

/** Facts that determine whether records can be stored in a database. */
interface Place {
  readonly fsync: string;
  readonly encoding: string;
  readonly readOnly: string;
  /** Null if there is no such table. */
  readonly persistence: string | null;
  readonly comment: string | null;
  readonly allowed: boolean | null;
}

/**
 * Rejects a database that would lose or garble an acknowledged record. `full_page_writes = off` is allowed, because it
 * is recommended on file systems that write whole pages. Each statement sets `synchronous_commit` and rejects replicas.
 *
 * @throws PostgresError that says what to change; FailedStatement if the server did not answer
 */
export async function refuseUnsafe(connections: Connections, table: string): Promise<void> {
  const { rows } = await connections.run(placeQuery(table));
  const problem = problemOf(rows[0] as unknown as Place);
  if (problem !== undefined) throw new PostgresError(`${problem} Nothing was changed.`);
}

function placeQuery(table: string): string {
  const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map(
    (right) => `has_table_privilege(place.id, '${right}')`,
  );
  return `SELECT current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding,
    current_setting('transaction_read_only') AS "readOnly", pg_class.relpersistence AS persistence,
    ${commentOf('place.id')} AS comment, ${rights.join(' AND ')} AS allowed
    FROM (SELECT to_regclass(${escapeLiteral(table)})::oid AS id) AS place LEFT JOIN pg_class ON pg_class.oid = place.id`;
}

function problemOf(place: Place): string | undefined {
  if (place.fsync !== 'on')
    return 'The PostgreSQL server is running with fsync = off: a power failure would lose records of paid calls. Set fsync = on.';
  if (place.readOnly !== 'off')
    return 'The PostgreSQL database is read-only for this user (default_transaction_read_only). The journal needs write access.';
  if (place.encoding !== 'UTF8')
    return `The PostgreSQL database has the encoding ${place.encoding}. Create a database with the encoding UTF8.`;
  if (place.persistence === null) return NOT_MIGRATED;
  if (place.persistence !== 'p')
    return 'The table media_journal is UNLOGGED or temporary: a crash would empty it. Run: ALTER TABLE media_journal SET LOGGED.';
  if (place.allowed !== true) return NOT_GRANTED;
  const version = tableVersion(place.comment);
  if (version === undefined || version < TABLE_VERSION)
    return 'The table media_journal has an older version, or this package did not create it. Run `temporal-media journal migrate`, with the same MEDIA_JOURNAL.';
  if (version > TABLE_VERSION)
    return `The table media_journal has version ${version}, but this package supports only version ${TABLE_VERSION}. Install the newer temporal-media on this host too.`;
  return undefined;
}
