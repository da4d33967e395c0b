import { Client, escapeLiteral } from 'pg';
import { tableOf } from './postgres-connections';
import { connectFailure, postgresError, PostgresError, statementFailure } from './postgres-error';

/**
 * Statements that upgrade the table from one version to the next. The first one creates version 1. Existing statements
 * never change.
 */
const STEPS: readonly ((table: string) => string)[] = [
  // Names are compared as bytes, regardless of the database's collation.
  (table) =>
    `CREATE TABLE ${table} (\n  name text COLLATE "C" PRIMARY KEY,\n  body text NOT NULL,\n  at timestamptz NOT NULL DEFAULT now()\n)`,
];

/** The table version that this package reads and writes. */
export const TABLE_VERSION = STEPS.length;

/** The table's comment stores its version. A dump includes the comment, and no second table is needed. */
const COMMENT = 'temporal-media journal, version ';

export const commentOf = (oid: string): string => `obj_description(${oid}, 'pg_class')`;

/** Returns the version in a comment, or undefined for a table that this package did not create. */
export function tableVersion(comment: string | null): number | undefined {
  const version = comment?.startsWith(COMMENT) ? Number(comment.slice(COMMENT.length)) : NaN;
  return Number.isInteger(version) ? version : undefined;
}

/** The table's versions before and after {@link migratePostgres}. */
export interface Migrated {
  /** The table's previous version; 0 if there was no table. */
  readonly from: number;
  /** The table's current version. */
  readonly version: number;
}

/**
 * Returns the statements that {@link migratePostgres} runs in a database without the table, for people who run them
 * manually.
 */
export function migrationSql(url?: string): string {
  return script(url === undefined ? 'media_journal' : tableOf(url), 0);
}

/**
 * Creates the journal's table, or upgrades an older one, in one transaction. Changes nothing if the table is up to
 * date. Several migrations may run concurrently. The schema must exist, and the user must be allowed to create tables
 * in it.
 *
 * @param url as for {@link createPostgresRecords} @throws PostgresError
 */
export async function migratePostgres(url: string): Promise<Migrated> {
  const table = tableOf(url);
  const client = new Client({
    connectionString: url,
    application_name: 'temporal-media',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: 2 * STATEMENT_MS,
  });
  // The failed statement also reports the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw postgresError(connectFailure(error), null);
  }
  try {
    return await migrate(client, table);
  } catch (error) {
    if (error instanceof PostgresError) throw error;
    const { text, code, maybeWritten } = statementFailure(error);
    const refused = code === '42501' || code === '3F000';
    const hint = maybeWritten
      ? 'Run the command again. It changes nothing if the migration is complete.'
      : 'Nothing was changed.';
    throw new PostgresError(`${refused ? NOT_ALLOWED : text} ${hint}${code ? ` (${code})` : ''}`, code);
  } finally {
    // A hanging connection is left open until the process ends.
    void client.end().catch(() => undefined);
  }
}

const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;
/** An arbitrary number that is the same for all migrations. */
const LOCK = 7_306_080_742;
const NOT_ALLOWED =
  "The journal's schema is missing, or the PostgreSQL user is not allowed to create tables in it. Create the schema, or grant CREATE on it.";

async function migrate(client: Client, table: string): Promise<Migrated> {
  await client.query(
    `BEGIN; SET LOCAL statement_timeout = ${STATEMENT_MS}; SET LOCAL synchronous_commit = on; SELECT pg_advisory_xact_lock(${LOCK})`,
  );
  // A separate statement after the lock, so that it sees the previous migration's changes.
  const found = await client.query<{ id: string | null; comment: string | null }>(
    `SELECT id, ${commentOf('id')} AS comment FROM (SELECT to_regclass(${escapeLiteral(table)})::oid AS id) AS place`,
  );
  const { id, comment } = found.rows[0] ?? { id: null, comment: null };
  const from = id === null ? 0 : tableVersion(comment);
  if (from === undefined)
    throw new PostgresError(
      `This package did not create the existing table media_journal. Rename that table. If it is the journal and a copy lost its comment, run: COMMENT ON TABLE ${table} IS '${COMMENT}${TABLE_VERSION}'. Nothing was changed.`,
    );
  if (from > TABLE_VERSION)
    throw new PostgresError(
      `The table media_journal has version ${from}, but this package supports only version ${TABLE_VERSION}. Install the newer temporal-media here too. Nothing was changed.`,
    );
  if (from < TABLE_VERSION) await client.query(script(table, from));
  await client.query('COMMIT');
  return { from, version: TABLE_VERSION };
}

function script(table: string, from: number): string {
  const steps = STEPS.slice(from).map((step) => step(table));
  return [...steps, `COMMENT ON TABLE ${table} IS '${COMMENT}${TABLE_VERSION}'`]
    .map((statement) => `${statement};\n`)
    .join('');
}
