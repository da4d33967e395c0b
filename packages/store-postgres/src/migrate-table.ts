import { Client, escapeLiteral } from 'pg';
import { tableOf } from './postgres-connections';
import { connectFailure, postgresError, PostgresError, statementFailure } from './postgres-error';

/** Statements that bring the table from one version to the next: the first one makes version 1. Never changed later. */
const STEPS: readonly ((table: string) => string)[] = [
  // Names are compared by their bytes, whatever the language of the database is.
  (table) =>
    `CREATE TABLE ${table} (\n  name text COLLATE "C" PRIMARY KEY,\n  body text NOT NULL,\n  at timestamptz NOT NULL DEFAULT now()\n)`,
];

/** The version of the table that this package reads and writes. */
export const TABLE_VERSION = STEPS.length;

/** The version is the comment of the table: it travels with the table in a dump, and needs no second table. */
const COMMENT = 'temporal-media journal, version ';

export const commentOf = (oid: string): string => `obj_description(${oid}, 'pg_class')`;

/** The version that a comment says; undefined for a table that this package did not make. */
export function tableVersion(comment: string | null): number | undefined {
  const version = comment?.startsWith(COMMENT) ? Number(comment.slice(COMMENT.length)) : NaN;
  return Number.isInteger(version) ? version : undefined;
}

/** Versions of the table before and after {@link migratePostgres}. */
export interface Migrated {
  /** Version of the table before; 0 when there was none. */
  readonly from: number;
  /** Version of the table now. */
  readonly version: number;
}

/** The statements of {@link migratePostgres} for a database without the table, for people who run them themselves. */
export function migrationSql(url?: string): string {
  return script(url === undefined ? 'media_journal' : tableOf(url), 0);
}

/**
 * Makes the table of the journal, or brings an older one up to date, in one transaction; changes nothing where it is up
 * to date. Several may run at once. The user must be allowed to create tables in the schema, which must exist.
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
  // What goes wrong is the answer of a statement as well.
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
      ? 'Run the command again: it changes nothing where it is done.'
      : 'Nothing was changed.';
    throw new PostgresError(`${refused ? NOT_ALLOWED : text} ${hint}${code ? ` (${code})` : ''}`, code);
  } finally {
    // A connection that hangs is left to the end of the process.
    void client.end().catch(() => undefined);
  }
}

const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;
/** Any number, the same for all that migrate. */
const LOCK = 7_306_080_742;
const NOT_ALLOWED =
  'The schema of the journal is missing, or the PostgreSQL user may not create tables in it. Create it, or grant CREATE on it.';

async function migrate(client: Client, table: string): Promise<Migrated> {
  await client.query(
    `BEGIN; SET LOCAL statement_timeout = ${STATEMENT_MS}; SET LOCAL synchronous_commit = on; SELECT pg_advisory_xact_lock(${LOCK})`,
  );
  // A statement of its own, after the lock: it sees what the one before has done.
  const found = await client.query<{ id: string | null; comment: string | null }>(
    `SELECT id, ${commentOf('id')} AS comment FROM (SELECT to_regclass(${escapeLiteral(table)})::oid AS id) AS place`,
  );
  const { id, comment } = found.rows[0] ?? { id: null, comment: null };
  const from = id === null ? 0 : tableVersion(comment);
  if (from === undefined)
    throw new PostgresError(
      `There is a table media_journal that this package did not make. Rename it; or, if it is the journal and lost its comment in a copy: COMMENT ON TABLE ${table} IS '${COMMENT}${TABLE_VERSION}'. Nothing was changed.`,
    );
  if (from > TABLE_VERSION)
    throw new PostgresError(
      `The table media_journal has version ${from}, and this package knows ${TABLE_VERSION}. Install the newer temporal-media here too. Nothing was changed.`,
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
