import { escapeLiteral } from 'pg';
import { type Connections } from './connections';
import { NOT_GRANTED, NOT_MIGRATED, PostgresError } from './errors';
import { commentOf, TABLE_VERSION, versionOf } from './migrate';

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
  const version = versionOf(place.comment);
  if (version === undefined || version < TABLE_VERSION)
    return 'The table media_journal is of an older version, or not of this package. Run `temporal-media journal migrate`, with the same MEDIA_JOURNAL.';
  if (version > TABLE_VERSION)
    return `The table media_journal has version ${version}, and this package knows ${TABLE_VERSION}. Install the newer temporal-media on this host too.`;
  return undefined;
}
