'use strict';
// A real bucket and a real database for journals, each started for one benchmark. Without its server, a sentence is said.

/** Returns the bucket's environment, a client that writes objects without the journal, and the store of records. */
async function startBucket(scope, say) {
  const { findS3, startS3 } = require('../../scripts/stores/s3.js');
  const found = findS3({ say });
  if (found.path === null) return void say(`No bucket: ${found.reason}.`);
  const server = await startS3();
  scope.defer(() => server.stop());
  await server.createBucket('bench');
  const { createS3Client, createS3Records } = require('../../packages/store-s3/lib/index.js');
  const { PutObjectCommand } = require('@aws-sdk/client-s3');
  const client = createS3Client(server.env);
  return {
    env: { ...server.env, MEDIA_JOURNAL: 's3://bench/journal' },
    put: (key, text) => client.send(new PutObjectCommand({ Bucket: 'bench', Key: key, Body: text })),
    records: createS3Records({ client, bucket: 'bench', prefix: 'journal' }),
  };
}

/** Returns the database's environment, a pool that writes rows without the journal, and the store of records. */
async function startDatabase(scope, say) {
  const { findPostgres, startPostgres } = require('../../scripts/stores/postgres.js');
  if (findPostgres() === null) return void say('No database: install the package "postgresql".');
  const server = await startPostgres();
  scope.defer(() => server.stop());
  const { createPostgresRecords, migratePostgres } = require('../../packages/store-postgres/lib/index.js');
  await migratePostgres(server.url);
  const { Pool } = require('pg');
  const pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined);
  const records = createPostgresRecords({ url: server.url });
  scope.defer(() => Promise.all([records.close(), pool.end()]));
  return { env: { MEDIA_JOURNAL: server.url }, pool, records };
}

module.exports = { startBucket, startDatabase };
