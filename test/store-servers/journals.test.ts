import { randomUUID } from 'node:crypto';
import { createPostgresRecords, migratePostgres } from '../../packages/store-postgres/src';
import { createS3Records } from '../../packages/store-s3/src';
import { createJournalConformance, recordStoreConformance } from '../../packages/testing/src';
import { startPgbouncer } from '../../scripts/stores/pgbouncer';
import { type PostgresServer, startPostgres } from '../../scripts/stores/postgres';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { SpendBooks } from '../../src/activities/spend-book';
import { createJournal } from '../../src/stores/journal/create-journal';
import { type RecordStore } from '../../src/stores/journal/record-store';
import { databaseOf, describeWith, newDatabase } from './support/postgres';
import { clientOf, describeWithS3, newBucket } from './support/s3';

/** The suites that a user runs against an own store, on the stores of this package. */
function suites(open: () => Promise<() => RecordStore>): void {
  test.each(recordStoreConformance(open))('$name', ({ run }) => run(), 60_000);

  const opened: RecordStore[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close?.();
  });
  const journals = createJournalConformance(async () => {
    const openStore = await open();
    return () => {
      const store = openStore();
      opened.push(store);
      return createJournal(store);
    };
  });
  test.each(journals)('the journal in it $name', ({ run }) => run(), 60_000);

  test('[C1.7] a limit of a label is exact with eight workers', async () => {
    const openStore = await open();
    const limit = { payer: 'a/tenant=acme', microUnits: 330, currency: 'USD', per: 'month' } as const;
    const workers = Array.from({ length: 8 }, () => {
      const store = openStore();
      opened.push(store);
      return new SpendBooks(createJournal(store));
    });
    const asked = Array.from({ length: 160 }, (_, call) =>
      workers[call % workers.length]!.reserve({ ...limit, whenReached: 'wait' }, 10),
    );
    const got = await Promise.all(asked);
    expect(got.filter((one) => 'correct' in one)).toHaveLength(33);
    expect(await workers[0]!.used({ ...limit, whenReached: 'wait' })).toMatchObject({ spent: 330 });
  }, 60_000);
}

describeWithS3()('a bucket', () => {
  let server: S3Server;
  let bucket: string;
  beforeAll(async () => {
    server = await startS3();
    bucket = await newBucket(server);
  }, 120_000);
  afterAll(() => server.stop());

  suites(async () => {
    const prefix = randomUUID();
    return () => createS3Records({ client: clientOf(server), bucket, prefix });
  });
});

describe.each([false, true])('a table, behind PgBouncer: %s', (pooled) => {
  describeWith(...(pooled ? (['postgres', 'pgbouncer'] as const) : (['postgres'] as const)))(
    'is a place',
    () => {
      let server: PostgresServer;
      let pooler: Awaited<ReturnType<typeof startPgbouncer>> | undefined;
      beforeAll(async () => {
        server = await startPostgres();
        if (pooled) pooler = await startPgbouncer({ postgres: server });
      }, 120_000);
      afterAll(async () => {
        await pooler?.stop();
        await server.stop();
      });

      suites(async () => {
        const direct = await newDatabase(server.url);
        await migratePostgres(direct);
        const url = databaseOf(pooler?.url ?? direct, new URL(direct).pathname.slice(1));
        return () => createPostgresRecords({ url, maxConnections: 4 });
      });
    },
  );
});
