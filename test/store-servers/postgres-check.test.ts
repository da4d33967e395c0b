import { execFile } from 'node:child_process';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createPostgresRecords, migratePostgres, PostgresError } from '../../packages/store-postgres/src';
import { type PostgresServer, startPostgres } from '../../scripts/stores/postgres';
import { freePort } from '../../src/stores/files/this-machine';
import { describeWith, newDatabase, sql } from './support/postgres';

const SOON = { patienceMs: 1 };

/** The message of the check; the store must refuse to create as well. */
async function refusal(url: string): Promise<string> {
  const records = createPostgresRecords({ url, ...SOON });
  const checked = await records.check().then(
    () => 'accepted',
    (error: unknown) => (error instanceof PostgresError ? error.message : String(error)),
  );
  await expect(records.create('keys/a/0.entry', 'text')).rejects.toThrow(PostgresError);
  await records.close();
  return checked;
}

describeWith('postgres')('a database that may not hold the journal', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    url = await newDatabase(server.url);
  });

  it('has no table: the message names the command', async () => {
    expect(await refusal(url)).toMatch(/no table media_journal.*`temporal-media journal migrate`/);
  });

  it.each([
    [
      'the table of a newer version',
      `COMMENT ON TABLE media_journal IS 'temporal-media journal, version 2'`,
      /version 2.*newer temporal-media/,
    ],
    ['a table of unknown version', `COMMENT ON TABLE media_journal IS NULL`, /journal migrate/],
    ['a table that a crash empties', 'ALTER TABLE media_journal SET UNLOGGED', /UNLOGGED/],
  ])('has %s', async (_, statement, message) => {
    await migratePostgres(url);
    await sql(url, statement);
    expect(await refusal(url)).toMatch(message);
  });

  it('lets the user only read', async () => {
    await migratePostgres(url);
    await sql(
      url,
      'DROP ROLE IF EXISTS reader',
      'CREATE ROLE reader LOGIN',
      'GRANT SELECT ON media_journal TO reader',
    );
    const reader = new URL(url);
    reader.username = 'reader';
    expect(await refusal(reader.href)).toMatch(/Grant SELECT, INSERT, UPDATE and DELETE on it/);
    await sql(url, 'GRANT INSERT, UPDATE, DELETE ON media_journal TO reader');
    await createPostgresRecords({ url: reader.href }).check();
    await sql(url, 'DROP OWNED BY reader');
  });

  it('is read-only by default', async () => {
    await migratePostgres(url);
    await sql(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
    expect(await refusal(url)).toMatch(/read-only/);
  });

  it('holds no Unicode', async () => {
    const latin = await newDatabase(server.url, `ENCODING 'LATIN1' LOCALE 'C'`);
    await migratePostgres(latin);
    expect(await refusal(latin)).toMatch(/LATIN1.*UTF8/);
  });

  it('is accepted as soon as it is put right, by the same store', async () => {
    const records = createPostgresRecords({ url });
    await expect(records.check()).rejects.toThrow(/no table/);
    await migratePostgres(url);
    expect(await records.create('keys/a/0.entry', 'text')).toBe('won');
    await records.close();
  });

  it('a hint that cannot be written says so; only dropping one fails in silence', async () => {
    const records = createPostgresRecords({ url, ...SOON });
    await expect(records.note('open/a.json', 'text')).rejects.toThrow(PostgresError);
    await records.note('open/a.json', null);
    await records.close();
  });

  it('messages name no host, port, user, password or database', async () => {
    const port = await freePort();
    const at = (where: string) => `postgres://some-user:secret-word@${where}`;
    const addresses = [
      at(`127.0.0.1:${port}/some-database`),
      at(`127.0.0.1:${server.port}/some-database`),
      at('host-that-is-nowhere.invalid/some-database'),
      at(`127.0.0.1:${server.port}/some-database?sslmode=verify-full`),
      at(`127.0.0.1:${server.port}/some-database?sslrootcert=/not/there.pem`),
    ];
    const messages = await Promise.all(addresses.map(refusal));
    expect(messages.join('\n')).not.toMatch(/some-|secret|127\.0|nowhere|there\.pem|\d{5,} /);
    expect(messages[0]).toMatch(/cannot be reached.*ECONNREFUSED/);
    expect(messages[3]).toMatch(/does not support SSL/);
    const bad = 'postgres://some-user:secret word@[/x';
    expect(() => createPostgresRecords({ url: bad })).toThrow(/must be postgres:\/\/USER@HOST/);
    expect(() => createPostgresRecords({ url: bad })).not.toThrow(/secret/);
  });

  it('a process with an idle pool ends by itself, and survives the loss of its connections', async () => {
    await migratePostgres(url);
    const entry = path.join(__dirname, '..', '..', 'packages', 'store-postgres', 'lib', 'index.js');
    const script = `
      const { createPostgresRecords } = require(${JSON.stringify(entry)});
      const { Client } = require('pg');
      (async () => {
        const records = createPostgresRecords({ url: process.env.MEDIA_JOURNAL });
        console.log(await records.create('keys/a/0.entry', 'a'));
        const other = new Client({ connectionString: process.env.MEDIA_JOURNAL });
        await other.connect();
        await other.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'temporal-media'");
        await other.end();
        console.log(await records.create('keys/b/0.entry', 'b'));
        setImmediate(() => console.log(process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name))));
      })();`;
    const run = await promisify(execFile)(process.execPath, ['-e', script], {
      cwd: path.join(__dirname, '..', '..'),
      env: { ...process.env, MEDIA_JOURNAL: url },
      timeout: 60_000,
    });
    expect(run).toEqual({ stdout: 'won\nwon\n[]\n', stderr: '' });
  });
});

describeWith('postgres')('a server that may not hold the journal', () => {
  let server: PostgresServer | undefined;
  afterEach(() => server?.stop());

  it('loses what it has acknowledged: fsync = off', async () => {
    server = await startPostgres({ settings: { fsync: 'off' } });
    await migratePostgres(server.url);
    expect(await refusal(server.url)).toMatch(/fsync = off.*paid calls.*Set fsync = on/);
  });

  it('is a replica: refused at the start, and for reads when it becomes one later', async () => {
    server = await startPostgres();
    await migratePostgres(server.url);
    const before = createPostgresRecords({ url: server.url, ...SOON });
    expect(await before.create('keys/a/0.entry', 'text')).toBe('won');
    await server.kill();
    const signal = path.join(server.dir, 'data', 'standby.signal');
    writeFileSync(signal, '');
    const { uid, gid } = statSync(server.dir);
    chownSync(signal, uid, gid);
    await server.start();
    expect(await refusal(server.url)).toMatch(/replica.*primary/);
    // Old reads would look as if nothing had been sent.
    await expect(before.read('keys/a/0.entry')).rejects.toThrow(/replica/);
    await expect(before.readAll('keys/')).rejects.toThrow(/replica/);
    await expect(before.names('', null, 10)).rejects.toThrow(/replica/);
    await expect(before.create('keys/b/0.entry', 'text')).rejects.toThrow(/read-only.*Nothing was changed/);
    await before.close();
  });
});
