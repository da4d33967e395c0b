import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type S3Client } from '@aws-sdk/client-s3';
import { createS3Records } from '../../packages/store-s3/src';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { type RecordStore } from '../../src/stores/journal/record-store';
import { type Fault, type FaultProxy, startFaultProxy } from './support/fault-proxy';
import { clientOf, describeWithS3, ignoreConditions, newBucket } from './support/s3';

const PREFIX = 'media/journal';
const SLOW_DOWN = { status: 503, code: 'SlowDown' };
const BROKEN = { status: 500, code: 'InternalError' };
const CONFLICT = { status: 409, code: 'ConditionalRequestConflict' };

describeWithS3()('records in a bucket', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let bucket: string;
  const clients: S3Client[] = [];
  /** Straight to the server, and through the proxy. */
  let records: RecordStore;
  let proxied: RecordStore;

  const open = (through?: FaultProxy): RecordStore => {
    const client = clientOf(server, through);
    clients.push(client);
    return createS3Records({ client, bucket, prefix: PREFIX });
  };
  const puts = () => proxy.requests.filter(({ method }) => method === 'PUT');
  /** These puts fail in this way, in this order; later ones pass. */
  const failPuts = (...faults: (Fault | null)[]) => {
    proxy.rule = ({ method }) => (method === 'PUT' ? (faults.shift() ?? null) : null);
  };
  const fileOf = (name: string) => join(server.dir, 'buckets', bucket, PREFIX, name);

  beforeAll(async () => {
    server = await startS3();
    proxy = await startFaultProxy(server.endpoint);
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await proxy?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    bucket = await newBucket(server);
    proxy.rule = () => null;
    proxy.before = async () => undefined;
    records = open();
    proxied = open(proxy);
    proxy.requests.length = 0;
  });

  it('let one of sixteen creators on two clients win, and all read its text', async () => {
    const other = open();
    for (let round = 0; round < 10; round += 1) {
      const name = `keys/ab/${round}/0.entry`;
      const answers = await Promise.all(
        Array.from({ length: 16 }, async (_, index) => {
          const text = `text of ${index}`;
          return { text, answer: await (index % 2 === 0 ? records : other).create(name, text) };
        }),
      );
      const won = answers.filter(({ answer }) => answer === 'won');
      expect(won).toHaveLength(1);
      expect(await other.read(name)).toBe(won[0]?.text);
    }
  });

  it('give a text back as it was, also an empty one, one of 1 MiB, and one in any script', async () => {
    const texts = ['', '{"v":1}\n', 'ä 漢字 🎬\r\n\u0000 end', 'x'.repeat(1024 * 1024)];
    for (const [index, text] of texts.entries()) {
      expect(await records.create(`texts/${index}.x`, text)).toBe('won');
      expect(await records.read(`texts/${index}.x`)).toBe(text);
    }
    expect(await readFile(fileOf('texts/1.x'), 'utf8')).toBe(texts[1]);
  });

  it('answer null for what is not there', async () => {
    expect(await records.read('keys/none/0.entry')).toBeNull();
    expect(await records.readAll('keys/none/')).toEqual(new Map());
    expect(await records.names('', null, 10)).toEqual([]);
  });

  it('read all records of a name at once, as soon as another client has created them', async () => {
    const other = open();
    await Promise.all(
      ['keys/ab/1/0.entry', 'keys/ab/1/0.note', 'keys/ab/1/1.entry', 'keys/ab/12/0.entry'].map((name) =>
        other.create(name, `of ${name}`),
      ),
    );
    expect([...(await records.readAll('keys/ab/1/0.'))]).toEqual([
      ['keys/ab/1/0.entry', 'of keys/ab/1/0.entry'],
      ['keys/ab/1/0.note', 'of keys/ab/1/0.note'],
    ]);
    expect([...(await records.readAll('keys/ab/1/')).keys()]).toHaveLength(3);
  });

  it('name more than a thousand records in the order of their bytes, page by page', async () => {
    const names = Array.from(
      { length: 1_050 },
      (_, index) => `tasks/${index}.${index % 2 === 0 ? 'x' : '-y'}`,
    );
    const left = [...names];
    const lane = async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) await records.create(name, name);
    };
    await Promise.all([
      ...Array.from({ length: 24 }, lane),
      records.create('task', ''),
      records.create('tasks0', ''),
    ]);
    const ordered = [...names].sort();
    expect(await records.names('tasks/', null, 5_000)).toEqual(ordered);
    expect(await records.names('tasks/', null, 1_020)).toEqual(ordered.slice(0, 1_020));
    const paged: string[] = [];
    for (;;) {
      const page = await records.names('tasks/', paged.at(-1) ?? null, 400);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(400);
      paged.push(...page);
    }
    expect(paged).toEqual(ordered);
    expect((await records.readAll('tasks/')).size).toBe(1_050);
    expect(await records.names('tasks/', null, 0)).toEqual([]);
  });

  it('write a note over an earlier one or say that they cannot; only dropping one never fails', async () => {
    await records.note('hint', 'first');
    await records.note('hint', 'second');
    expect(await records.read('hint')).toBe('second');
    const nowhere = createS3Records({ client: clients[0]!, bucket: `${bucket}-none`, prefix: '' });
    await expect(nowhere.note('hint', 'third')).rejects.toThrow(/NoSuchBucket/);
    await expect(nowhere.note('hint', null)).resolves.toBeUndefined();
  });

  it('remove a record, whether it is there or not, so that it can be created again', async () => {
    await records.create('a/b', 'first');
    await records.remove('a/b');
    await records.remove('a/b');
    expect(await records.read('a/b')).toBeNull();
    expect(await records.create('a/b', 'second')).toBe('won');
  });

  it('are there after the server was killed', async () => {
    await records.create('a/b', 'kept');
    await server.kill();
    await server.start();
    expect(await records.read('a/b')).toBe('kept');
    expect(await records.create('a/b', 'other')).toBe('lost');
  });

  it('find a record that was changed behind their back', async () => {
    await records.create('a/b', 'a text of some length');
    await writeFile(fileOf('a/b'), 'a text of same length');
    await expect(records.read('a/b')).rejects.toThrow(
      'A record could not be read from the bucket (the reply is truncated or damaged).',
    );
    await expect(records.readAll('a/')).rejects.toMatchObject({ name: 'S3Error' });
  });

  it('ask again where a reply breaks off', async () => {
    await records.create('a/b', 'x'.repeat(500_000));
    proxy.cutBodyAt = 100_000;
    expect(await proxied.read('a/b')).toBe('x'.repeat(500_000));
    expect(proxy.requests).toHaveLength(2);
  });

  describe('when an answer is lost', () => {
    const faults: [string, Fault][] = (['before', 'after'] as const).flatMap((when) =>
      (
        [
          ['cut', 'cut'],
          ['SlowDown', SLOW_DOWN],
          ['500', BROKEN],
          ['hang', 'hang'],
        ] as const
      ).map(([name, what]): [string, Fault] => [`${name} ${when} the write`, { when, what }]),
    );

    it.each(faults)('%s: it was their own text, and they won', async (_, fault) => {
      failPuts(fault);
      expect(await proxied.create('a/b', 'mine')).toBe('won');
      expect(await records.read('a/b')).toBe('mine');
      expect(puts()).toHaveLength(2);
    });

    it.each(faults)('%s: somebody else was first, and they lost', async (_, fault) => {
      await records.create('a/b', 'of another');
      failPuts(fault);
      expect(await proxied.create('a/b', 'mine')).toBe('lost');
      expect(await records.read('a/b')).toBe('of another');
    });

    it('every time: the text that is read back decides', async () => {
      proxy.rule = ({ method }) => (method === 'PUT' ? { when: 'after', what: 'cut' } : null);
      expect(await proxied.create('a/b', 'mine')).toBe('won');
      expect(puts()).toHaveLength(5);
      expect(await proxied.create('a/b', 'another')).toBe('lost');
    });

    it('every time, and nothing is there: they do not know, and say so', async () => {
      proxy.rule = ({ method }) => (method === 'PUT' ? { when: 'before', what: SLOW_DOWN } : null);
      await expect(proxied.create('a/b', 'mine')).rejects.toMatchObject({
        name: 'S3Error',
        status: 503,
        code: 'SlowDown',
        message:
          'It is unknown whether the bucket stored a record, because its replies were lost (HTTP 503 SlowDown).',
      });
      expect(puts()).toHaveLength(5);
    });

    it('every time, and reads fail too: they do not know, and say so', async () => {
      proxy.rule = ({ method }) => ({ when: method === 'PUT' ? 'after' : 'before', what: BROKEN });
      await expect(proxied.create('a/b', 'mine')).rejects.toThrow(
        'A record could not be read from the bucket (HTTP 500 InternalError).',
      );
    });

    it('never: the same text of somebody else is a loss', async () => {
      await records.create('a/b', 'same');
      expect(await proxied.create('a/b', 'same')).toBe('lost');
      expect(proxy.requests.map(({ method }) => method)).toEqual(['PUT']);
    });

    it('never, but another put was under way: they try again, and the same text of somebody else is a loss', async () => {
      failPuts({ when: 'before', what: CONFLICT });
      expect(await proxied.create('a/b', 'same')).toBe('won');
      failPuts({ when: 'before', what: CONFLICT });
      expect(await proxied.create('a/b', 'same')).toBe('lost');
    });

    it('at random, to two creators of each of 60 names: no wrong answer', async () => {
      const all = faults.map(([, fault]) => fault).filter(({ what }) => what !== 'hang');
      proxy.rule = () => (Math.random() < 0.4 ? all[Math.floor(Math.random() * all.length)]! : null);
      const wrong: string[] = [];
      const counts = { won: 0, lost: 0, unknown: 0 };
      const name = (index: number) => `keys/${index}/0.entry`;
      await Promise.all(
        Array.from({ length: 120 }, async (_, index) => {
          const text = randomUUID();
          const at = name(Math.floor(index / 2));
          const answer = await proxied.create(at, text).catch(() => 'unknown' as const);
          counts[answer] += 1;
          const stored = await records.read(at);
          if (answer === 'won' && stored !== text) wrong.push(`${at}: won, and it is not there`);
          if (answer === 'lost' && (stored === null || stored === text)) wrong.push(`${at}: lost to nobody`);
        }),
      );
      expect(wrong).toEqual([]);
      expect(counts.won).toBeGreaterThan(0);
      expect(counts.lost).toBeGreaterThan(0);
    });
  });

  describe('before a bucket holds a journal', () => {
    it('it is probed, and nothing is left of the probe', async () => {
      await expect(records.check?.()).resolves.toBeUndefined();
      expect(await records.names('', null, 10)).toEqual([]);
    });

    it('a service that takes every put is refused', async () => {
      ignoreConditions(proxy, server);
      await expect(proxied.check?.()).rejects.toThrow(
        /does not honor conditional puts \(If-None-Match: \*\).*must not store a journal/,
      );
      expect(await records.names('', null, 10)).toEqual([]);
    });

    it('a service that does not implement them is refused', async () => {
      proxy.rule = ({ method }) =>
        method === 'PUT' ? { when: 'before', what: { status: 501, code: 'NotImplemented' } } : null;
      await expect(proxied.check?.()).rejects.toThrow(/does not honor conditional puts/);
    });

    it('one that cannot be written is refused, and no message holds a secret', async () => {
      const client = clients[0]!;
      const keys = { ...server.env, AWS_SECRET_ACCESS_KEY: 'wrong' };
      const missing = createS3Records({ client, bucket: `${bucket}-none`, prefix: PREFIX });
      const strange = createS3Records({ client: clientOf({ ...server, env: keys }), bucket, prefix: PREFIX });
      const dead = createS3Records({
        client: clientOf(server, { endpoint: 'http://127.0.0.1:1' }),
        bucket,
        prefix: PREFIX,
      });
      const messages: string[] = [];
      for (const one of [missing, strange, dead]) {
        // The SDK hides the code of a refused connection from reads that run under jest.
        const reads = one === dead ? [] : [() => one.names('', null, 5), () => one.read('a/b')];
        for (const work of [async () => one.check?.(), ...reads]) {
          const error = await work().then(
            () => new Error('no error'),
            (thrown: unknown) => thrown as Error,
          );
          messages.push(`${error.name}: ${error.message}`);
          const all = `${error.message}${error.stack}${JSON.stringify(error)}`;
          for (const secret of [bucket, PREFIX, server.accessKey, server.secretKey, 'secret words'])
            expect(all).not.toContain(secret);
        }
      }
      expect(messages).toMatchInlineSnapshot(`
[
  "S3Error: The bucket did not store a record (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "S3Error: The bucket's records could not be listed (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "S3Error: A record could not be read from the bucket (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "S3Error: The bucket did not store a record (HTTP 403 SignatureDoesNotMatch). The AWS credentials are wrong.",
  "S3Error: The bucket's records could not be listed (HTTP 403 SignatureDoesNotMatch). The AWS credentials are wrong.",
  "S3Error: A record could not be read from the bucket (HTTP 403 SignatureDoesNotMatch). The AWS credentials are wrong.",
  "S3Error: The bucket did not store a record (ECONNREFUSED). Check the network and, if it is set, AWS_ENDPOINT_URL_S3.",
]
`);
    });
  });
});
