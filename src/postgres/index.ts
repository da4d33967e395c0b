/**
 * The journal in PostgreSQL. Wants the package `pg`. For workers, and for a pool of your own.
 *
 * @module
 */
export { migratePostgres, type Migrated, migrationSql } from './migrate';
export { createPostgresRecords, type PostgresRecords, type PostgresRecordsOptions } from './postgres-records';
export { type PostgresClient, type PostgresPool } from './connections';
export { PostgresError } from './errors';
