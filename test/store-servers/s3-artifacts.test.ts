import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createS3ArtifactStore, type S3ArtifactStore } from '../../packages/store-s3/src';
import {
  artifactStoreConformance,
  type ArtifactStoreUnderTest,
} from '../../packages/testing/src/conformance/artifact-store';
import { type S3Server, startS3 } from '../../scripts/stores/s3';
import { type FaultProxy, startFaultProxy } from './support/fault-proxy';
import { clientOf, describeWithS3, ignoreConditions, newBucket } from './support/s3';

const MIB = 1024 * 1024;
const VIDEO = { mediaType: 'video/mp4' };
const PREFIX = 'media/artifacts';

describeWithS3()('artifacts in a bucket', () => {
  let server: S3Server;
  let proxy: FaultProxy;
  let client: S3Client;
  let proxied: S3Client;
  let bucket: string;
  let dir: string;
  let hosts = 0;

  beforeAll(async () => {
    server = await startS3();
    proxy = await startFaultProxy(server.endpoint);
    client = clientOf(server);
    proxied = clientOf(server, proxy);
  });
  afterAll(async () => {
    client?.destroy();
    proxied?.destroy();
    await proxy?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'store-s3-'));
    bucket = await newBucket(server);
    proxy.rule = () => null;
    proxy.before = async () => undefined;
    proxy.cutBodyAt = undefined;
    proxy.requests.length = 0;
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  /** A store of another host, which has a folder of its own. */
  const open = (through = client): S3ArtifactStore => {
    hosts += 1;
    return createS3ArtifactStore({
      client: through,
      bucket,
      prefix: PREFIX,
      folder: join(dir, `host-${hosts}`),
    });
  };
  const asked = (method: string) => proxy.requests.filter((one) => one.method === method);
  const keys = async () =>
    ((await client.send(new ListObjectsV2Command({ Bucket: bucket }))).Contents ?? []).map(({ Key }) => Key);
  const openUploads = async () =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [];
  const keyOf = (sha256: string) => `${PREFIX}/${sha256.slice(0, 2)}/${sha256}`;

  /** Pieces of one seed: different each time, and no more of them in memory than one. */
  function* pieces(mebibytes: number): Generator<Buffer> {
    const piece = randomBytes(MIB);
    for (let index = 0; index < mebibytes; index += 1) {
      piece.writeUInt32BE(index, 0);
      yield Buffer.from(piece);
    }
  }

  describe('conformance', () => {
    const openStore = async (): Promise<ArtifactStoreUnderTest> => {
      const store = open();
      return {
        store,
        damage: async (sha256) => {
          const at = { Bucket: bucket, Key: keyOf(sha256) };
          const bytes = await (await client.send(new GetObjectCommand(at))).Body!.transformToByteArray();
          bytes[1_000]! ^= 0xff;
          await client.send(new PutObjectCommand({ ...at, Body: bytes }));
        },
        dispose: async () => undefined,
      };
    };
    for (const { name, run } of artifactStoreConformance(openStore)) it(name, run, 60_000);
  });

  it('lie under their hash, with their media type; a small one is stored by one put', async () => {
    const store = open(proxied);
    const ref = await store.putBuffer(Buffer.from('small'), VIDEO);
    expect(await keys()).toEqual([keyOf(ref.sha256)]);
    expect(proxy.requests.map(({ method }) => method)).toEqual(['HEAD', 'PUT']);
    const head = await client.send(
      new HeadObjectCommand({ Bucket: bucket, Key: keyOf(ref.sha256), ChecksumMode: 'ENABLED' }),
    );
    expect(head.ContentType).toBe('video/mp4');
    expect(head.ChecksumSHA256).toBe(Buffer.from(ref.sha256, 'hex').toString('base64'));
    await store.putBuffer(Buffer.from('small'), VIDEO);
    expect(asked('PUT')).toHaveLength(1);
  });

  it('lie at the top of a bucket without a prefix', async () => {
    const store = createS3ArtifactStore({ client, bucket, prefix: '', folder: join(dir, 'top') });
    const { sha256 } = await store.putBuffer(Buffer.from('top'), VIDEO);
    await store.identity();
    expect(await keys()).toEqual([`${sha256.slice(0, 2)}/${sha256}`, 'store.json']);
    expect(await store.list(null, 10)).toMatchObject([{ sha256, bytes: 3 }]);
  });

  it('are read, listed and copied on another host, which has the same id', async () => {
    const [here, there] = [open(), open()];
    const ref = await here.putBuffer(Buffer.from('made here'), VIDEO);
    expect((await buffer(await there.read(ref))).toString()).toBe('made here');
    expect(await readFile(await there.localPath(ref), 'utf8')).toBe('made here');
    expect(await there.fetchTo(ref, join(dir, 'out', 'x.mp4'))).toBe('written');
    const ids = await Promise.all([here.identity(), there.identity(), open().identity()]);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('leave a local copy where they were written, which no request is made for', async () => {
    const store = open(proxied);
    const ref = await store.putBuffer(randomBytes(100_000), VIDEO);
    proxy.requests.length = 0;
    const paths = await Promise.all([store.localPath(ref), store.localPath(ref)]);
    expect(new Set(paths).size).toBe(2);
    expect(proxy.requests).toEqual([]);
    const other = open(proxied);
    await Promise.all([other.localPath(ref), other.localPath(ref), other.localPath(ref)]);
    expect(asked('GET')).toHaveLength(1);
  });

  it('are no local copy when they are damaged', async () => {
    const ref = await open().putBuffer(randomBytes(50_000), VIDEO);
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: keyOf(ref.sha256), Body: randomBytes(50_000) }),
    );
    const other = open();
    await expect(other.localPath(ref)).rejects.toMatchObject({ code: 'hash_mismatch' });
    const files = await readdir(join(dir, `host-${hosts}`), { recursive: true, withFileTypes: true });
    expect(files.filter((file) => file.isFile())).toEqual([]);
  });

  it('are stored again over an object that is cut short', async () => {
    const bytes = randomBytes(50_000);
    const ref = await open().putBuffer(bytes, VIDEO);
    const cut = { Bucket: bucket, Key: keyOf(ref.sha256), Body: bytes.subarray(0, 10) };
    await client.send(new PutObjectCommand(cut));
    await open().putBuffer(bytes, VIDEO);
    expect((await buffer(await open().read(ref))).equals(bytes)).toBe(true);
  });

  it('are stored again when the same bytes come in a day later, so that they do not count as old', async () => {
    const store = open();
    const put = () => store.putBuffer(Buffer.from('the same again'), VIDEO);
    const { sha256 } = await put();
    // The server keeps an object as a file.
    const file = join(server.dir, 'buckets', bucket, keyOf(sha256));
    const hours = (ago: number) => new Date(Date.now() - ago * 3_600_000);
    const hoursOld = async () => {
      const found = await store.list(null, 10);
      return (Date.now() - Date.parse(found[0]!.storedAt)) / 3_600_000;
    };
    await utimes(file, hours(23), hours(23));
    await put();
    expect(await hoursOld()).toBeGreaterThan(22);
    await utimes(file, hours(25), hours(25));
    await put();
    expect(await hoursOld()).toBeLessThan(1);
    expect((await buffer(await store.read({ sha256 }))).toString()).toBe('the same again');
  });

  it('[C4.3] that are refused lie aside', async () => {
    const part = await open().stage('owner');
    await part.write(Buffer.from('<html>'));
    const ref = await part.reject();
    expect(await keys()).toEqual([`${PREFIX}/rejected/${ref.sha256}.rejected`]);
    await expect(part.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'superseded' });
  });

  it('pass through in parts, of which few are in memory', async () => {
    const mebibytes = 256;
    const hash = createHash('sha256');
    function* hashed() {
      for (const piece of pieces(mebibytes)) {
        hash.update(piece);
        yield piece;
      }
    }
    const store = open(proxied);
    const before = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 10);
    try {
      const ref = await store.putStream(hashed(), VIDEO);
      expect(ref).toMatchObject({ bytes: mebibytes * MIB, sha256: hash.digest('hex') });
      expect(asked('PUT').length).toBeGreaterThan(20);
      let read = 0;
      for await (const chunk of await store.read(ref)) read += (chunk as Buffer).length;
      expect(read).toBe(mebibytes * MIB);
      expect(await store.has(ref.sha256)).toBe(mebibytes * MIB);
    } finally {
      clearInterval(watch);
    }
    expect((peak - before) / MIB).toBeLessThan(mebibytes / 2);
    expect(await openUploads()).toEqual([]);
  });

  it('are not there when an upload is cut in its middle, which leaves nothing; their part goes on', async () => {
    const store = open(proxied);
    const part = await store.stage('owner');
    for (const piece of pieces(64)) await part.write(piece);
    proxy.rule = ({ url }) => (/partNumber=3&/.test(url) ? { when: 'before', what: 'cut' } : null);
    await expect(part.publish('video/mp4')).rejects.toMatchObject({ name: 'ArtifactError', code: 'storage' });
    expect(asked('PUT').length).toBeGreaterThan(3);
    expect(await store.has(part.sha256())).toBeNull();
    expect(await openUploads()).toEqual([]);
    expect(await keys()).toEqual([]);
    await part.close();

    proxy.rule = () => null;
    const again = await store.stage('owner');
    expect(again.position).toBe(64 * MIB);
    const ref = await again.publish('video/mp4');
    expect((await buffer(await store.read(ref))).length).toBe(64 * MIB);
  });

  it('are stored in the end although replies of the service are lost', async () => {
    const store = open(proxied);
    const failed = new Set<string>();
    proxy.rule = ({ method, url }) => {
      const what = `${method} ${url.replace(/uploadId=[^&]*/, '')}`;
      if (method === 'HEAD' || failed.has(what)) return null;
      failed.add(what);
      return { when: 'before', what: { status: 503, code: 'SlowDown' } };
    };
    const ref = await store.putStream(pieces(20), VIDEO);
    proxy.rule = () => null;
    expect((await buffer(await store.read(ref))).length).toBe(20 * MIB);
    expect(await openUploads()).toEqual([]);
  });

  it('are read on from where a connection broke', async () => {
    const store = open(proxied);
    const ref = await store.putStream(pieces(4), VIDEO);
    proxy.requests.length = 0;
    proxy.cutBodyAt = 3 * MIB;
    const bytes = await buffer(await store.read(ref));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(ref.sha256);
    const ranges = asked('GET').map(({ range }) => range);
    expect(ranges).toHaveLength(2);
    expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it('are not read to their end when the service is gone', async () => {
    const store = open(proxied);
    const ref = await store.putStream(pieces(4), VIDEO);
    proxy.cutBodyAt = MIB;
    proxy.rule = ({ range }) => (range === undefined ? null : { when: 'before', what: 'cut' });
    await expect(store.read(ref).then(buffer)).rejects.toMatchObject({
      name: 'ArtifactError',
      code: 'storage',
    });
    await expect(store.fetchTo(ref, join(dir, 'out.mp4'))).resolves.toBe('written');
  });

  it('list past what is no artifact', async () => {
    const refs: string[] = [];
    const store = open();
    for (let index = 0; index < 5; index += 1)
      refs.push((await store.putBuffer(Buffer.from(`${index}`), VIDEO)).sha256);
    const foreign = [`00/${'z'.repeat(64)}`, 'ab.txt', `ab/cd${'0'.repeat(62)}`, 'campaigns/x', 'zz/x'];
    for (const name of foreign)
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: `${PREFIX}/${name}`, Body: 'x' }));
    refs.sort();
    expect((await store.list(null, 100)).map(({ sha256 }) => sha256)).toEqual(refs);
    expect((await store.list(refs[1]!, 2)).map(({ sha256 }) => sha256)).toEqual(refs.slice(2, 4));
  });

  it('presign for a second to seven days, by a signature that ends', async () => {
    const store = open();
    const ref = await store.putBuffer(Buffer.from('shown'), VIDEO);
    const address = new URL(await store.presign(ref, { expiresMs: 90_500 }));
    expect(address.searchParams.get('X-Amz-Expires')).toBe('90');
    address.searchParams.set('X-Amz-Expires', '91');
    expect((await fetch(address)).status).toBe(403);
    for (const expiresMs of [0, 999, 7 * 86_400_000 + 1, Number.NaN])
      await expect(store.presign(ref, { expiresMs })).rejects.toThrow(RangeError);
  });

  it('are refused a service that takes every put, and nothing is left of the probe', async () => {
    const store = open(proxied);
    await store.checkWritable();
    ignoreConditions(proxy, server);
    await expect(store.checkWritable()).rejects.toThrow(
      /does not honor conditional puts.*must not store artifacts or a journal/,
    );
    expect(await keys()).toEqual([]);
  });

  it('[C5.4c] say what failed without bucket, key and credentials', async () => {
    const gone = createS3ArtifactStore({
      client,
      bucket: `${bucket}-none`,
      prefix: PREFIX,
      folder: join(dir, 'gone'),
    });
    const strange = createS3ArtifactStore({
      client: clientOf({ ...server, env: { ...server.env, AWS_SECRET_ACCESS_KEY: 'wrong' } }),
      bucket,
      prefix: PREFIX,
      folder: join(dir, 'strange'),
    });
    const full = createS3ArtifactStore({ client, bucket, prefix: PREFIX, folder: '/proc/none' });
    const messages: string[] = [];
    for (const [store, ...works] of [
      [gone, 'put', 'list', 'check', 'identity'],
      [strange, 'has', 'put', 'read'],
      [full, 'put'],
    ] as const) {
      for (const work of works) {
        const error = await WORKS[work](store).then(
          () => new Error('no error'),
          (thrown: unknown) => thrown as Error & { code?: string },
        );
        messages.push(`${work}: ${error.name} ${'code' in error ? error.code : ''}: ${error.message}`);
        const all = `${error.message}${error.stack}${JSON.stringify(error)}`;
        for (const secret of [bucket, PREFIX, dir, server.accessKey, server.secretKey, '/proc/none'])
          expect(all.replaceAll(process.cwd(), '')).not.toContain(secret);
      }
    }
    expect(messages).toMatchInlineSnapshot(`
[
  "put: ArtifactError not_writable: A request to the artifact store's bucket failed (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "list: ArtifactError not_writable: A request to the artifact store's bucket failed (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "check: ArtifactError not_writable: The bucket did not store a record (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "identity: ArtifactError not_writable: A record could not be read from the bucket (HTTP 404 NoSuchBucket). The bucket does not exist in this service. Create it, or fix its address.",
  "has: ArtifactError not_writable: A request to the artifact store's bucket failed (HTTP 403). The AWS credentials are wrong, or lack one of these permissions: s3:GetObject, s3:PutObject, s3:DeleteObject, s3:ListBucket, s3:AbortMultipartUpload.",
  "put: ArtifactError not_writable: A request to the artifact store's bucket failed (HTTP 403). The AWS credentials are wrong, or lack one of these permissions: s3:GetObject, s3:PutObject, s3:DeleteObject, s3:ListBucket, s3:AbortMultipartUpload.",
  "read: ArtifactError not_writable: A request to the artifact store's bucket failed (HTTP 403 SignatureDoesNotMatch). The AWS credentials are wrong.",
  "put: ArtifactError not_writable: The artifact store is not writable (mkdir: ENOENT).",
]
`);
  });
});

const WORKS = {
  put: (store: S3ArtifactStore) => store.putBuffer(Buffer.from('x'), VIDEO),
  list: (store: S3ArtifactStore) => store.list(null, 1),
  check: (store: S3ArtifactStore) => store.checkWritable(),
  identity: (store: S3ArtifactStore) => store.identity(),
  has: (store: S3ArtifactStore) => store.has('ab'.repeat(32)),
  read: (store: S3ArtifactStore) => store.read({ sha256: 'ab'.repeat(32) }),
};
