import { createPostgresRecords, migratePostgres, migrationSql } from '../../packages/store-postgres/src';
import { type Pgbouncer, startPgbouncer } from '../../scripts/stores/pgbouncer';
import { type PostgresServer, startPostgres } from '../../scripts/stores/postgres';
import { runCli, runJson } from '../cli/support/run-cli';
import { describeWith, newDatabase, sql } from './support/postgres';

const COMMENT = `SELECT obj_description('media_journal'::regclass, 'pg_class') AS comment`;
const VERSION_1 = [{ comment: 'temporal-media journal, version 1' }];

describeWith('postgres')('the table of the journal', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    url = await newDatabase(server.url);
  });

  async function createsAndReads(address: string): Promise<void> {
    const records = createPostgresRecords({ url: address });
    expect(await records.create('keys/a/0.entry', 'text')).toBe('won');
    expect(await records.read('keys/a/0.entry')).toBe('text');
    await records.close();
  }

  it('is made once; a repetition changes nothing', async () => {
    expect(await migratePostgres(url)).toEqual({ from: 0, version: 1 });
    await createsAndReads(url);
    expect(await migratePostgres(url)).toEqual({ from: 1, version: 1 });
    expect(await sql(url, 'SELECT name, body FROM media_journal')).toEqual([
      { name: 'keys/a/0.entry', body: 'text' },
    ]);
    expect(await sql(url, COMMENT)).toEqual(VERSION_1);
  });

  it('is made by one of eight that run at once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => migratePostgres(url)));
    expect(all.map(({ from }) => from).sort()).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
    await createsAndReads(url);
  });

  it('is the same by hand: the SQL that a dry run prints', async () => {
    await sql(url, migrationSql());
    expect(await migratePostgres(url)).toEqual({ from: 1, version: 1 });
    await createsAndReads(url);
  });

  it('lies in the schema that the address names, apart from those of others', async () => {
    const inSchema = `${url}?schema=My%20media`;
    await expect(migratePostgres(inSchema)).rejects.toThrow(/schema is missing.*Nothing was changed/);
    await sql(url, 'CREATE SCHEMA "My media"');
    await migratePostgres(inSchema);
    await migratePostgres(url);
    await createsAndReads(inSchema);
    await createsAndReads(url);
  });

  it('is never made over a table of another program, or of a newer version', async () => {
    await sql(url, 'CREATE TABLE media_journal (id int)');
    await expect(migratePostgres(url)).rejects.toThrow(/did not create/);
    await sql(url, `COMMENT ON TABLE media_journal IS 'temporal-media journal, version 2'`);
    await expect(migratePostgres(url)).rejects.toThrow(/version 2, but this package supports only version 1/);
  });

  it('a user who may not create tables is told so', async () => {
    await sql(
      url,
      'DROP ROLE IF EXISTS reader',
      'CREATE ROLE reader LOGIN',
      'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    );
    const reader = new URL(url);
    reader.username = 'reader';
    await expect(migratePostgres(reader.href)).rejects.toThrow(/not allowed to create tables/);
  });

  it('the command makes it, says where, and shows no password', async () => {
    const address = new URL(url);
    address.password = 'secret-word';
    const env = { MEDIA_JOURNAL: address.href };
    const made = await runCli(['journal', 'migrate'], env);
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringContaining(`${address.pathname.slice(1)} at 127.0.0.1 has version 1. It is new.`),
    ]);
    const again = await runJson(['journal', 'migrate'], env);
    expect(again.reply).toEqual({ ok: true, data: { dryRun: false, from: 1, version: 1 } });
    const elsewhere = new URL(address);
    elsewhere.pathname = '/not-there';
    const failed = await runJson(['journal', 'migrate'], { MEDIA_JOURNAL: elsewhere.href });
    expect([failed.code, failed.reply.error?.type]).toEqual([73, 'journal_unusable']);
    const shown = [made, again, failed].map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(shown).not.toMatch(/secret-word|media@/);
  });

  it('a dry run prints the SQL and connects to nothing; a folder has no table', async () => {
    const dry = await runCli(['journal', 'migrate', '--dry-run'], {
      MEDIA_JOURNAL: 'postgres://127.0.0.1:1/x',
    });
    expect([dry.code, dry.stdout]).toEqual([0, migrationSql()]);
    const folder = await runJson(['journal', 'migrate'], { MEDIA_JOURNAL: '/var/lib/media' });
    expect([folder.code, folder.reply.error?.type]).toEqual([78, 'configuration']);
  });
});

describeWith('postgres', 'pgbouncer')('the table of the journal, through PgBouncer', () => {
  let server: PostgresServer | undefined;
  let pooler: Pgbouncer | undefined;
  afterEach(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  it('is made by one of eight that run at once', async () => {
    server = await startPostgres();
    pooler = await startPgbouncer({ postgres: server });
    const { url } = pooler;
    const all = await Promise.all(Array.from({ length: 8 }, () => migratePostgres(url)));
    expect(all.filter(({ from }) => from === 0)).toHaveLength(1);
  });
});
