/**
 * Stores the journal in PostgreSQL. Workers use it if MEDIA_JOURNAL begins with postgres://. Programs can use it with
 * their own pool.
 *
 * @module
 */
import { type StorePackage } from 'temporal-media/internal/stores/open-stores';
import { createPostgresRecords } from './postgres-records';

export { migratePostgres, type Migrated, migrationSql } from './migrate-table';
export { createPostgresRecords, type PostgresRecords, type PostgresRecordsOptions } from './postgres-records';
export { type PostgresClient, type PostgresPool } from './postgres-connections';
export { PostgresError } from './postgres-error';

/** Opens the record store at the address in MEDIA_JOURNAL. */
export const storePackage: StorePackage = { openRecords: (url) => createPostgresRecords({ url }) };
