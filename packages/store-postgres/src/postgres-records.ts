import { escapeLiteral } from 'pg';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { type RecordStore } from 'temporal-media/stores';
import { Connections, endPool, openPool, type PostgresPool, tableIn, tableOf } from './connections';
import { PostgresError, NOT_GRANTED, NOT_MIGRATED } from './postgres-error';
import { commentOf, TABLE_VERSION, tableVersion } from './migrate';

/** Where the records are: an address, or a pool of your own. */
export type PostgresRecordsOptions = {
  /**
   * For how long a statement is tried again, in milliseconds; a restart of the server takes seconds, a failover half a
   * minute. The last try may take 20 seconds more. @default 30000
   */
  readonly patienceMs?: number;
} & (
  | {
      /**
       * `postgres://user@host:5432/database`. `?schema=` names the schema of the table, otherwise the search path finds
       * it; `sslmode`, `application_name` and the other parameters are those of the package `pg`. Without a password
       * those of PGPASSWORD and PGPASSFILE are taken.
       */
      readonly url: string;
      /** Most connections at once, opened when they are wanted. @default 10 */
      readonly maxConnections?: number;
    }
  | {
      /** A `Pool` of the package `pg`, of version 8.11 or later. {@link RecordStore.close} leaves it open. */
      readonly pool: PostgresPool;
      /** Schema of the table. @default the search path of the connection */
      readonly schema?: string;
    }
);

/** Records in a table of PostgreSQL. */
export interface PostgresRecords extends RecordStore {
  /**
   * Whether the journal may be kept here: the primary server, durable, with the table of this version. Asks once;
   * the first use of the store checks it too, with patience. @throws PostgresError that says what to change
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A store of records in the table `media_journal`, which {@link migratePostgres} makes. Any number of hosts may use it,
 * also through PgBouncer in transaction mode. Connects at the first use. Where the server is gone or busy it tries again,
 * then throws a {@link PostgresError}. PostgreSQL holds no text with a NUL character: it is refused.
 */
export function createPostgresRecords(options: PostgresRecordsOptions): PostgresRecords {
  const table = 'url' in options ? tableOf(options.url) : tableIn(options.schema);
  const ownPool = 'url' in options ? openPool(options.url, options.maxConnections ?? 10) : undefined;
  const connections = new Connections(
    'url' in options ? (ownPool as PostgresPool) : options.pool,
    options.patienceMs ?? 30_000,
  );
  let accepted = false;

  async function check(patienceMs?: number): Promise<void> {
    await connections.persist(() => refuseUnsafe(connections, table), false, patienceMs);
    accepted = true;
  }

  async function rows(statement: string): Promise<readonly Row[]> {
    if (!accepted) await check();
    const answer = await connections.persist(() => connections.run(statement), false);
    return answer.rows as unknown as readonly Row[];
  }

  async function drop(name: string): Promise<void> {
    if (!accepted) await check(0);
    await connections.run(`DELETE FROM ${table} WHERE name = ${escapeLiteral(name)}`, false);
  }

  const insert = (name: string, text: string): string =>
    `INSERT INTO ${table} AS old (name, body) VALUES (${escapeLiteral(name)}, ${escapeLiteral(text)}) ON CONFLICT (name) DO`;

  return {
    kind: 'postgres',
    check: () => check(0),

    async read(name) {
      const [row] = await rows(`SELECT body FROM ${table} WHERE name = ${escapeLiteral(name)}`);
      return row?.body ?? null;
    },

    async readAll(prefix) {
      const found = await rows(`SELECT name, body FROM ${table} WHERE ${begins(prefix)} ORDER BY name`);
      return new Map(found.map(({ name, body }) => [name, body]));
    },

    async names(prefix, after, limit) {
      const later = after === null ? '' : ` AND name > ${escapeLiteral(after)}`;
      const found = await rows(
        `SELECT name FROM ${table} WHERE ${begins(prefix)}${later} ORDER BY name LIMIT ${Math.trunc(limit)}`,
      );
      return found.map(({ name }) => name);
    },

    async create(name, text) {
      if (text.includes('\0'))
        throw new PostgresError(
          'A record with a NUL character cannot be kept in PostgreSQL. Nothing was changed.',
        );
      if (!accepted) await check();
      const { rowCount } = await connections.persist(
        (maybeWritten) => connections.run(`${insert(name, text)} ${maybeWritten ? OWN_AGAIN : 'NOTHING'}`),
        true,
      );
      return rowCount === 1 ? 'won' : 'lost';
    },

    async note(name, text) {
      if (text === null) return drop(name).catch(otherwise(undefined));
      if (!accepted) await check();
      const statement = `${insert(name, text)} UPDATE SET body = excluded.body, at = now()`;
      await connections.persist(() => connections.run(statement, false), true);
    },

    async remove(name) {
      if (!accepted) await check();
      const statement = `DELETE FROM ${table} WHERE name = ${escapeLiteral(name)}`;
      await connections.persist(() => connections.run(statement), true);
    },

    async close() {
      connections.close();
      if (ownPool !== undefined && !ownPool.ending) await endPool(ownPool);
    },
  };
}

interface Row {
  readonly name: string;
  readonly body: string;
}

/**
 * After a try whose answer was lost: writes over a record with our own text, so that one row was changed if and only if
 * the record is ours. A write and no read, because its commit makes sure that the one before it is durable too: a
 * commit that was cut while it waited for a replica can be read before the replica has it.
 */
const OWN_AGAIN = 'UPDATE SET body = excluded.body WHERE old.body = excluded.body';

/** The range of the names that begin with this, in the order of their bytes. */
function begins(prefix: string): string {
  if (prefix === '') return 'true';
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  return `name >= ${escapeLiteral(prefix)} AND name < ${escapeLiteral(end)}`;
}

/** What decides whether records may be kept in a database. */
interface Place {
  readonly fsync: string;
  readonly encoding: string;
  readonly readOnly: string;
  /** Null where there is no such table. */
  readonly persistence: string | null;
  readonly comment: string | null;
  readonly allowed: boolean | null;
}

/**
 * Refuses a database that would lose or garble an acknowledged record. `full_page_writes = off` is not refused: file
 * systems that write whole pages want it so. `synchronous_commit` is set by each statement. A replica is refused by each
 * statement.
 *
 * @throws PostgresError that says what to change; FailedTry where the server did not answer
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
    return 'The PostgreSQL server runs with fsync = off: a loss of power would lose records of paid calls. Set fsync = on.';
  if (place.readOnly !== 'off')
    return 'The PostgreSQL database is read-only for this user (default_transaction_read_only). The journal must write.';
  if (place.encoding !== 'UTF8')
    return `The PostgreSQL database has the encoding ${place.encoding}. Create one with the encoding UTF8.`;
  if (place.persistence === null) return NOT_MIGRATED;
  if (place.persistence !== 'p')
    return 'The table media_journal is UNLOGGED or temporary: a crash would empty it. ALTER TABLE media_journal SET LOGGED.';
  if (place.allowed !== true) return NOT_GRANTED;
  const version = tableVersion(place.comment);
  if (version === undefined || version < TABLE_VERSION)
    return 'The table media_journal is of an older version, or not of this package. Run `temporal-media journal migrate`, with the same MEDIA_JOURNAL.';
  if (version > TABLE_VERSION)
    return `The table media_journal has version ${version}, and this package knows ${TABLE_VERSION}. Install the newer temporal-media on this host too.`;
  return undefined;
}
