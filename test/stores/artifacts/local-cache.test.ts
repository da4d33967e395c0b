import { createHash, randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { LocalCache } from '../../../packages/store-s3/src/local-cache';
import { ArtifactError, verifiedStream } from '../../../src/stores/artifacts/artifact-store';

const HOUR = 3_600_000;

describe('local copies of artifacts', () => {
  let folder: string;
  let fetched: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cache-'));
    fetched = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const artifacts = new Map<string, Buffer>();
  const make = (size: number): string => {
    const bytes = randomBytes(size);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    artifacts.set(sha256, bytes);
    return sha256;
  };
  const get = (cache: LocalCache, sha256: string) =>
    cache.pathOf(sha256, async () => {
      fetched.push(sha256);
      return verifiedStream(Readable.from([artifacts.get(sha256)!]), sha256);
    });
  const copies = async () =>
    (await readdir(join(folder, 'copies'), { recursive: true }))
      .map((file) => basename(file))
      .filter((name) => name.length === 64);
  const handedOut = () => readdir(join(folder, 'handed-out'));
  /** As if the copy had been asked for, for the last time, this many minutes ago. */
  const lastUsed = async (cache: LocalCache, sha256: string, minutes: number) => {
    const then = new Date(Date.now() - minutes * 60_000);
    for (const file of [cache.copyOf(sha256), `${cache.copyOf(sha256)}.used`]) {
      await writeFile(file, '', { flag: 'a' });
      await utimes(file, then, then);
    }
  };

  it('are fetched once, whoever asks, and are the bytes', async () => {
    const [one, two] = [new LocalCache({ folder }), new LocalCache({ folder })];
    const sha256 = make(10_000);
    const paths = await Promise.all([get(one, sha256), get(one, sha256), get(one, sha256)]);
    paths.push(await get(two, sha256));
    expect(fetched).toEqual([sha256]);
    for (const path of paths) expect((await readFile(path)).equals(artifacts.get(sha256)!)).toBe(true);
  });

  it('are none of what comes damaged, cut or not at all', async () => {
    const cache = new LocalCache({ folder });
    const sha256 = make(10_000);
    const wrong = async () => verifiedStream(Readable.from([randomBytes(10_000)]), sha256);
    await expect(cache.pathOf(sha256, wrong)).rejects.toMatchObject({ code: 'hash_mismatch' });
    const none = async () => Promise.reject(new ArtifactError('not_found', 'none'));
    await expect(cache.pathOf(sha256, none)).rejects.toMatchObject({ code: 'not_found' });
    expect([...(await readdir(folder))].filter((name) => name === 'copies')).toEqual([]);
    expect(await handedOut()).toEqual([]);
    expect((await readFile(await get(cache, sha256))).equals(artifacts.get(sha256)!)).toBe(true);
  });

  it('go when there are too many bytes of them, the least recently used first', async () => {
    const cache = new LocalCache({ folder, maxBytes: 3_000 });
    const [old, used, young] = [make(1_000), make(1_000), make(1_000)];
    for (const sha256 of [old, used, young]) await get(cache, sha256);
    await lastUsed(cache, old, 30);
    await lastUsed(cache, used, 40);
    await lastUsed(cache, young, 20);
    await get(cache, used);
    const next = make(1_500);
    await get(cache, next);
    expect((await copies()).sort()).toEqual([used, next].sort());
  });

  it('may be larger than the limit, and are then handed out and gone', async () => {
    const cache = new LocalCache({ folder, maxBytes: 1_000 });
    const sha256 = make(5_000);
    expect((await readFile(await get(cache, sha256))).length).toBe(5_000);
    expect(await copies()).toEqual([]);
  });

  it('stay under the path that was handed out when they go, also for a Blob', async () => {
    const cache = new LocalCache({ folder, maxBytes: 1_000 });
    const sha256 = make(800);
    const path = await get(cache, sha256);
    const blob = await openAsBlob(path);
    await get(cache, sha256);
    await get(cache, make(900));
    await cache.remove(sha256);
    await cache.remove(sha256);
    expect(await copies()).not.toContain(sha256);
    expect(Buffer.from(await blob.arrayBuffer()).equals(artifacts.get(sha256)!)).toBe(true);
  });

  it('lose the paths that were handed out more than an hour ago, and what a killed process left', async () => {
    const cache = new LocalCache({ folder, maxBytes: 1_000 });
    const path = await get(cache, make(900));
    const recent = await get(cache, make(900));
    const rest = basename(path).split('.').slice(1).join('.');
    await rename(path, join(folder, 'handed-out', `${Date.now() - HOUR - 1_000}.${rest}`));
    const drafts = [HOUR * 2, HOUR * 25].map((age) => `${Date.now() - age}.00.${'ab'.repeat(32)}.draft`);
    for (const draft of drafts) await writeFile(join(folder, 'handed-out', draft), 'x');
    await get(cache, make(900));
    const left = await handedOut();
    expect(left).toContain(basename(recent));
    expect(left).toContain(drafts[0]);
    expect(left).toHaveLength(3);
  });

  it('are whole under every path although several of them come and go at once', async () => {
    const caches = Array.from({ length: 3 }, () => new LocalCache({ folder, maxBytes: 20_000 }));
    const all = Array.from({ length: 12 }, () => make(5_000));
    await Promise.all(
      caches.flatMap((cache) =>
        Array.from({ length: 60 }, async () => {
          const sha256 = all[Math.floor(Math.random() * all.length)]!;
          const path = await get(cache, sha256);
          await new Promise((resolve) => setImmediate(resolve));
          expect((await readFile(path)).equals(artifacts.get(sha256)!)).toBe(true);
        }),
      ),
    );
    expect((await copies()).length).toBeLessThanOrEqual(5);
  });

  it('[C5.4c] fail without a path in the message', async () => {
    await writeFile(join(folder, 'file'), '');
    const cache = new LocalCache({ folder: join(folder, 'file', 'cache') });
    await expect(get(cache, make(10))).rejects.toThrow(
      new ArtifactError('not_writable', 'The local artifact cache is not writable (mkdir: ENOTDIR).'),
    );
  });
});
