import { Pool } from 'pg';
import {
  createPostgresRecords,
  migratePostgres,
  type PostgresRecords,
} from '../../packages/store-postgres/src';
import { startPgbouncer } from '../../scripts/stores/pgbouncer';
import { type PostgresServer, startPostgres } from '../../scripts/stores/postgres';
import { type CuttingProxy, startCuttingProxy } from './support/cutting-proxy';
import { databaseOf, describeWith, newDatabase, sql } from './support/postgres';

/** One test per promise of the port, on a server that acknowledges a commit ten seconds before it is on disk. */
const UNSAFE_DEFAULTS = { synchronous_commit: 'off', wal_writer_delay: '10000ms' };

type Way = 'direct' | 'pgbouncer';

suite('direct', describeWith('postgres'));
suite('pgbouncer', describeWith('postgres', 'pgbouncer'));

function suite(way: Way, describeWay: jest.Describe): void {
  describeWay(`records in PostgreSQL, ${way}`, () => {
    let server: PostgresServer;
    let pooler: { url: string; port: number; stop(): Promise<void> };
    let proxy: CuttingProxy;
    /** Past pooler and proxy. */
    let bare: string;
    let url: string;
    const opened: PostgresRecords[] = [];

    function open(
      address = url,
      options: { maxConnections?: number; patienceMs?: number } = {},
    ): PostgresRecords {
      const records = createPostgresRecords({ url: address, ...options });
      opened.push(records);
      return records;
    }

    beforeAll(async () => {
      server = await startPostgres({ settings: UNSAFE_DEFAULTS });
      pooler =
        way === 'direct'
          ? { url: server.url, port: server.port, stop: async () => undefined }
          : await startPgbouncer({ postgres: server });
      proxy = await startCuttingProxy(pooler.port);
    });
    afterAll(async () => {
      await proxy?.close();
      await pooler?.stop();
      await server?.stop();
    });
    beforeEach(async () => {
      bare = await newDatabase(server.url);
      url = databaseOf(pooler.url, new URL(bare).pathname.slice(1));
      await migratePostgres(url);
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((records) => records.close()));
    });

    const throughProxy = (): string => url.replace(`:${pooler.port}/`, `:${proxy.port}/`);

    it('of 16 that create a record at once, over two pools, one has won', async () => {
      const stores = [open(), open()];
      for (let n = 0; n < 20; n += 1) {
        const tries = Array.from({ length: 16 }, (_, one) =>
          (stores[one % 2] as PostgresRecords).create(`keys/${n}/0.entry`, `of ${one}`),
        );
        const results = await Promise.all(tries);
        expect(results.filter((result) => result === 'won')).toHaveLength(1);
        expect(await stores[0]?.read(`keys/${n}/0.entry`)).toBe(`of ${results.indexOf('won')}`);
      }
    });

    it('a record of the same text that is there already is lost: it is of another caller', async () => {
      const records = open();
      expect(await records.create('keys/a/0.entry', 'text')).toBe('won');
      expect(await records.create('keys/a/0.entry', 'text')).toBe('lost');
    });

    it('gives back any text, sees what another pool has created, and null for what is not there', async () => {
      const text = JSON.stringify({ text: `ü 漢字 🎬 "' \\ \\' $1 $$ ? \u2028 \0 -- ;` }).repeat(2_000);
      const [one, other] = [open(), open()];
      await one.create('keys/a/0.entry', text);
      expect(await other.read('keys/a/0.entry')).toBe(text);
      expect(await other.readAll('keys/a/')).toEqual(new Map([['keys/a/0.entry', text]]));
      expect(await other.read('keys/a/0')).toBeNull();
      expect(await other.readAll('keys/b/')).toEqual(new Map());
    });

    it('refuses a text that PostgreSQL cannot hold whole, instead of cutting it', async () => {
      const records = open();
      await expect(records.create('keys/a/0.entry', 'before\0after')).rejects.toThrow(/Nothing was changed/);
      expect(await records.read('keys/a/0.entry')).toBeNull();
    });

    it('names come in the order of their bytes, whatever the language of the database', async () => {
      const names = [
        'k/a',
        'k/a-b',
        'k/a.b',
        'k/a/b',
        'k/a0',
        'k/ab',
        'k/b',
        'k-a/b',
        'k0',
        'l/a',
        'k/-',
        'k/.a',
        'k/9',
      ];
      const records = open();
      for (const name of names) await records.create(name, name);
      const sorted = names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(await records.names('', null, 100)).toEqual(sorted);
      const within = sorted.filter((name) => name.startsWith('k/'));
      expect(await records.names('k/', null, 100)).toEqual(within);
      expect(await records.names('k/', 'k/a.b', 100)).toEqual(within.filter((name) => name > 'k/a.b'));
      expect([...(await records.readAll('k/a')).keys()]).toEqual(
        within.filter((name) => name.startsWith('k/a')),
      );
    });

    it('pages through more names than one answer holds, and reads as many', async () => {
      await sql(
        bare,
        `INSERT INTO media_journal (name, body) SELECT 'tasks/' || lpad(n::text, 5, '0'), n FROM generate_series(1, 1250) n`,
      );
      const records = open();
      const found: string[] = [];
      for (;;) {
        const page = await records.names('tasks/', found.at(-1) ?? null, 100);
        expect(page.length).toBeLessThanOrEqual(100);
        if (page.length === 0) break;
        found.push(...page);
      }
      expect(found).toEqual(
        Array.from({ length: 1_250 }, (_, n) => `tasks/${String(n + 1).padStart(5, '0')}`),
      );
      expect((await records.readAll('tasks/')).size).toBe(1_250);
    });

    it('a hint is written over; a record that was removed can be created again', async () => {
      const records = open();
      await records.note('open/a.json', '1');
      await records.note('open/a.json', '2');
      expect(await records.read('open/a.json')).toBe('2');
      await records.remove('open/a.json');
      await records.remove('open/a.json');
      expect(await records.read('open/a.json')).toBeNull();
      expect(await records.create('open/a.json', '3')).toBe('won');
    });

    it('a create whose answer is cut after the commit has won; one of another that is found then has lost', async () => {
      const records = open(throughProxy());
      await records.check();
      proxy.arm('after');
      expect(await records.create('keys/a/0.entry', 'ours')).toBe('won');
      proxy.arm('after', 'after');
      expect(await records.create('keys/a/0.entry', 'other')).toBe('lost');
      expect(proxy.armed()).toBe(0);
      expect(await records.read('keys/a/0.entry')).toBe('ours');
    });

    it('a create that is cut before it reaches the server wins by the next try', async () => {
      const records = open(throughProxy());
      await records.check();
      proxy.arm('before', 'before');
      expect(await records.create('keys/a/0.entry', 'ours')).toBe('won');
      expect(proxy.armed()).toBe(0);
      expect(await open().create('keys/a/0.entry', 'ours')).toBe('lost');
    });

    it('a create whose answers are all lost throws, and says that it is unknown whether it was written', async () => {
      const records = open(throughProxy(), { patienceMs: 1_000 });
      await records.check();
      proxy.arm(...Array.from({ length: 1_000 }, () => 'after' as const));
      await expect(records.create('keys/a/0.entry', 'ours')).rejects.toThrow(
        /unknown whether the database was changed/,
      );
      proxy.disarm();
      expect(await records.read('keys/a/0.entry')).toBe('ours');
    });

    it('a server that is killed while four writers create 500 records loses none that was won, and has one winner each', async () => {
      const stores = [open(), open(), open(url, { maxConnections: 3 }), open(url, { maxConnections: 3 })];
      await Promise.all(stores.map((store) => store.check()));
      const names = Array.from({ length: 500 }, (_, n) => `keys/${n}/0.entry`);
      let done = 0;
      let reached: () => void;
      const middle = new Promise<void>((resolve) => (reached = resolve));
      const writing = stores.map((store, writer) =>
        Promise.all(
          names.map(async (name) => {
            // A slow machine may take longer to start the server than the store is patient.
            const result = await store.create(name, `of ${writer}`).catch(() => 'unknown');
            done += 1;
            if (done === 600) reached();
            return result;
          }),
        ),
      );
      await middle;
      await server.kill();
      expect(done).toBeLessThan(2_000);
      await server.start();
      const results = await Promise.all(writing);
      // Once more without a checkpoint: what was acknowledged is on the disk.
      await server.kill();
      await server.start();
      const kept = await open().readAll('keys/');
      for (const [n, name] of names.entries()) {
        const said = (what: string) =>
          results.flatMap((one, writer) => (one[n] === what ? [`of ${writer}`] : []));
        const [winners, unknown] = [said('won'), said('unknown')];
        if (winners.length > 0) expect([name, ...winners]).toEqual([name, kept.get(name)]);
        else expect([name, ...unknown, undefined]).toContain(kept.get(name));
        expect([name, said('lost').length > 0 && !kept.has(name)]).toEqual([name, false]);
      }
      expect(await open().create('keys/500/0.entry', 'afterwards')).toBe('won');
    });

    it('a statement that hangs is given up in bounded time, at the server too, and the next one works', async () => {
      const records = open(url, { patienceMs: 1_000 });
      await records.check();
      const holder = new Pool({ connectionString: bare });
      const client = await holder.connect();
      await client.query('BEGIN; LOCK TABLE media_journal IN ACCESS EXCLUSIVE MODE');
      const results = await Promise.allSettled([
        records.create('keys/a/0.entry', 'ours'),
        records.read('keys/a/0.entry'),
        records.names('keys/', null, 10),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(String((results[0] as PromiseRejectedResult).reason)).toMatch(
        /took too long.*Nothing was changed/,
      );
      // As long as the lock is held, so that what still waits would write afterwards.
      expect(await sql(bare, WAITING)).toEqual([{ waiting: 0 }]);
      await client.query('COMMIT');
      client.release();
      await holder.end();
      expect(await records.read('keys/a/0.entry')).toBeNull();
      expect(await records.create('keys/a/0.entry', 'ours')).toBe('won');
    });

    it('connections that are open when their host is gone are all replaced after the first that does not answer', async () => {
      const records = open(throughProxy());
      // Ten connections are open and idle then: one after the other they would use up the patience.
      await Promise.all(Array.from({ length: 50 }, (_, n) => records.create(`keys/${n}/0.entry`, 'first')));
      proxy.freeze();
      expect(await records.create('keys/a/0.entry', 'ours')).toBe('won');
    });

    it('takes a pool of the user, and leaves it open', async () => {
      const pool = new Pool({ connectionString: url, max: 2 });
      const records = createPostgresRecords({ pool, schema: 'public' });
      expect(await records.create('keys/a/0.entry', 'ours')).toBe('won');
      await records.close();
      await expect(records.read('keys/a/0.entry')).rejects.toThrow(/was closed/);
      expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      await pool.end();
    });
  });
}

const WAITING = `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
