import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { migratePostgres } from '../../packages/store-postgres/src';
import { startPostgres } from '../../scripts/stores/postgres';
import { findS3, startS3 } from '../../scripts/stores/s3';

/** Starts the servers of a run, and tells its tests in their environment. Resolves with what stops them. */
export async function startStores(
  buckets: readonly string[],
  withDatabase: boolean,
  say: (line: string) => void,
): Promise<() => Promise<void>> {
  const found = findS3({ say });
  if (found.path === null) throw new Error(found.reason);
  const s3 = await startS3();
  for (const bucket of buckets) await s3.createBucket(bucket);
  Object.assign(process.env, s3.env);
  const database = withDatabase ? await startPostgres({ settings: { max_connections: 500 } }) : undefined;
  if (database !== undefined) process.env['TEST_POSTGRES_URL'] = database.url;
  return async () => {
    await s3.stop();
    await database?.stop();
  };
}

/** A database with the table of a journal. */
export async function newDatabase(): Promise<string> {
  const url = process.env['TEST_POSTGRES_URL'] ?? '';
  const name = `media_${randomUUID().replaceAll('-', '')}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const address = new URL(url);
  address.pathname = `/${name}`;
  await migratePostgres(address.href);
  return address.href;
}
