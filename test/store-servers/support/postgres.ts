import { Client } from 'pg';
import { findPgbouncer } from '../../../scripts/stores/pgbouncer';
import { findPostgres } from '../../../scripts/stores/postgres';

const MISSING = {
  postgres: 'PostgreSQL is not here: install the package "postgresql" (initdb, postgres).',
  pgbouncer: 'PgBouncer is not here and apt cannot download it: install the package "pgbouncer".',
} as const;

/** `describe`, or a skip that says in one line what is missing and what to install. */
export function describeWith(...programs: readonly (keyof typeof MISSING)[]): jest.Describe {
  const has = { postgres: () => findPostgres() !== null, pgbouncer: () => findPgbouncer() !== null };
  const missing = programs.filter((program) => !has[program]());
  for (const program of missing)
    process.stderr.write(`SKIPPED ${expect.getState().testPath}: ${MISSING[program]}\n`);
  return missing.length === 0 ? describe : describe.skip;
}

/** Runs statements as the owner of everything, past the code that is tested. */
export async function sql(url: string, ...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const rows: Record<string, unknown>[] = [];
    for (const statement of statements) {
      // Several statements in one text have several answers.
      const answers = [await client.query<Record<string, unknown>>(statement)].flat();
      rows.push(...answers.flatMap((answer) => answer.rows));
    }
    return rows;
  } finally {
    await client.end();
  }
}

let databases = 0;

/**
 * A new database, in which texts are compared as people of a language do, without punctuation: names of records must not
 * be. ICU came with PostgreSQL 15; an older server compares bytes anyway.
 */
export async function newDatabase(url: string, how = LANGUAGE): Promise<string> {
  databases += 1;
  const name = `media_${process.pid}_${databases}`;
  const [version] = await sql(url, `SELECT current_setting('server_version_num')::int >= 150000 AS icu`);
  await sql(url, `CREATE DATABASE ${name} TEMPLATE template0 ${version?.['icu'] === true ? how : ''}`);
  return databaseOf(url, name);
}

const LANGUAGE = `ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US-u-ka-shifted'`;

/** The same server, or one before it, with another database. */
export function databaseOf(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
