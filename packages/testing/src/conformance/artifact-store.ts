import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ArtifactStore, type StagedArtifact } from 'temporal-media/stores';
import { type ConformanceCheck } from './conformance-check';

/** An empty store, which a check can fill, damage and dispose of. */
export interface ArtifactStoreUnderTest {
  /** Empty when the check begins. */
  readonly store: ArtifactStore;
  /** Changes one byte of a stored artifact behind the store's back. */
  readonly damage: (sha256: string) => Promise<void>;
  /** Removes everything that `open` created. */
  readonly dispose: () => Promise<void>;
}

/** A check's context. */
interface Bench extends ArtifactStoreUnderTest {
  /** A folder for user files, outside the store. */
  readonly outside: string;
  /** Opens a staged artifact that is closed after the check. */
  readonly stage: (owner: string) => Promise<StagedArtifact>;
}

type Check = (bench: Bench) => Promise<void>;

const VIDEO = { mediaType: 'video/mp4' };
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const bytesOf = (stream: Readable): Promise<Buffer> => buffer(stream);
/** Compares values. They may come from another realm, because a test runner may use a separate one. */
const same = (actual: unknown, expected: unknown) =>
  assert.deepEqual(JSON.parse(JSON.stringify(actual)), JSON.parse(JSON.stringify(expected)));
const rejects = (work: Promise<unknown>, code: string) =>
  assert.rejects(work, { name: 'ArtifactError', code });
const hashesOf = (found: readonly { readonly sha256: string }[]) => found.map(({ sha256 }) => sha256);

/**
 * Returns the guarantees of every artifact store (`ArtifactStore`), as checks for any test runner:
 *
 * ```ts
 * for (const { name, run } of artifactStoreConformance(open)) test(name, run, 60_000);
 * ```
 *
 * @param open creates an empty store; each check opens its own and disposes of it
 */
export function artifactStoreConformance(
  open: () => Promise<ArtifactStoreUnderTest>,
): readonly ConformanceCheck[] {
  return Object.entries(CHECKS).map(([name, check]) => ({ name, run: () => onBench(open, check) }));
}

async function onBench(open: () => Promise<ArtifactStoreUnderTest>, check: Check): Promise<void> {
  const under = await open();
  const outside = await mkdtemp(join(tmpdir(), 'store-out-'));
  const parts: StagedArtifact[] = [];
  const stage = async (owner: string) => {
    const part = await under.store.stage(owner);
    parts.push(part);
    return part;
  };
  try {
    await check({
      store: under.store,
      damage: (sha256) => under.damage(sha256),
      dispose: () => under.dispose(),
      outside,
      stage,
    });
  } finally {
    for (const part of parts) await part.close();
    await under.dispose();
    await rm(outside, { recursive: true, force: true });
  }
}

const CHECKS: { readonly [name: string]: Check } = {
  async 'names bytes by their SHA-256 and returns them'({ store }) {
    const bytes = randomBytes(3_000_000);
    const sha256 = sha256Of(bytes);
    const ref = await store.putBuffer(bytes, VIDEO);
    same(ref, { uri: `artifact:sha256/${sha256}`, ...VIDEO, bytes: bytes.length, sha256 });
    assert.ok((await bytesOf(await store.read(ref))).equals(bytes));
    assert.equal(await store.has(ref.sha256), bytes.length);
  },

  async 'has a kind without secrets'({ store }) {
    assert.match(store.kind, /^[a-z0-9-]{1,40}$/);
  },

  async 'stores the same bytes twice without a change, even if both writers run concurrently'({ store }) {
    const bytes = randomBytes(100_000);
    const put = () => store.putBuffer(bytes, { mediaType: 'image/png' });
    const refs = await Promise.all(Array.from({ length: 8 }, put));
    assert.equal(new Set(refs.map((ref) => ref.uri)).size, 1);
    assert.ok((await bytesOf(await store.read(refs[0]!))).equals(bytes));
  },

  async 'returns null or not_found for missing artifacts'({ store }) {
    const absent = { sha256: sha256Of(Buffer.from('absent')) };
    assert.equal(await store.has(absent.sha256), null);
    await rejects(store.read(absent), 'not_found');
    await rejects(store.localPath(absent), 'not_found');
    if (store.presign !== undefined) await rejects(store.presign(absent, { expiresMs: 60_000 }), 'not_found');
  },

  async 'rejects artifact names that are not a SHA-256'({ store }) {
    for (const sha256 of ['../../etc/passwd', 'A'.repeat(64), 'ab', '', `/../${'aa'.repeat(32)}`]) {
      await rejects(store.has(sha256), 'not_found');
      await rejects(store.read({ sha256 }), 'not_found');
      await rejects(store.localPath({ sha256 }), 'not_found');
      await rejects(store.remove(sha256), 'not_found');
      if (store.presign !== undefined)
        await rejects(store.presign({ sha256 }, { expiresMs: 60_000 }), 'not_found');
    }
  },

  async 'fails a read at its end if the stored bytes were changed'({ store, damage, outside }) {
    const ref = await store.putBuffer(randomBytes(200_000), VIDEO);
    await damage(ref.sha256);
    await rejects(store.read(ref).then(bytesOf), 'hash_mismatch');
    await rejects(store.fetchTo(ref, join(outside, 'x.mp4')), 'hash_mismatch');
    same(await readdir(outside), []);
  },

  async 'stores nothing from a source that fails halfway'({ store }) {
    async function* broken() {
      yield Buffer.from('first half');
      throw new Error('source broke');
    }
    await assert.rejects(store.putStream(broken(), VIDEO), /source broke/);
    assert.equal(await store.has(sha256Of(Buffer.from('first half'))), null);
    same(await store.list(null, 10), []);
  },

  async 'returns a part to the same owner, and to nobody else'({ stage }) {
    const first = await stage('execution-1');
    await first.write(Buffer.from('hello '));
    await first.close();
    assert.equal((await stage('execution-2')).position, 0);
    const again = await stage('execution-1');
    assert.equal(again.position, 6);
    assert.equal(again.sha256(), sha256Of(Buffer.from('hello ')));
    await again.write(Buffer.from('world'));
    const ref = await again.publish('text/plain');
    assert.equal(ref.sha256, sha256Of(Buffer.from('hello world')));
    assert.equal((await stage('execution-1')).position, 0);
  },

  async 'keeps a part intact while an earlier attempt is still writing'({ store, stage }) {
    const zombie = await stage('execution-1');
    await zombie.write(Buffer.from('same start, '));
    const current = await stage('execution-1');
    await zombie.write(Buffer.from('zombie bytes').fill('z'));
    await current.write(Buffer.from('right end'));
    await rejects(zombie.publish('video/mp4'), 'superseded');
    const ref = await current.publish('video/mp4');
    assert.equal((await bytesOf(await store.read(ref))).toString(), 'same start, right end');
    same(hashesOf(await store.list(null, 10)), [ref.sha256]);
  },

  async 'restarts a part at 0'({ store, stage }) {
    const part = await stage('execution-1');
    await part.write(Buffer.from('of the old entity'));
    await part.restart();
    assert.equal(part.position, 0);
    await part.write(Buffer.from('new'));
    const ref = await part.publish('video/mp4');
    assert.equal((await bytesOf(await store.read(ref))).toString(), 'new');
  },

  async 'forgets a discarded part and rejects further writes'({ stage }) {
    const part = await stage('execution-1');
    await part.write(Buffer.from('gone'));
    await part.discard();
    await rejects(part.write(Buffer.from('more')), 'superseded');
    assert.equal((await stage('execution-1')).position, 0);
  },

  async 'provides the bytes of a part in a local file, if it has one'({ stage }) {
    const part = await stage('execution-1');
    await part.write(Buffer.from('to be checked'));
    const path = part.inspectPath();
    if (path !== undefined) assert.equal(await readFile(path, 'utf8'), 'to be checked');
  },

  async '[C4.3] keeps refused bytes for a person and never as an artifact'({ store, stage }) {
    const part = await stage('execution-1');
    await part.write(Buffer.from('{"error":"no video"}'));
    const ref = await part.reject();
    assert.equal(ref.mediaType, 'application/octet-stream');
    assert.equal(ref.bytes, 20);
    assert.equal(await store.has(ref.sha256), null);
    same(await store.list(null, 10), []);
  },

  async 'writes a file for the user once and never overwrites other content'({ store, outside }) {
    const bytes = randomBytes(50_000);
    const ref = await store.putBuffer(bytes, VIDEO);
    const target = join(outside, 'new', 'video.mp4');
    assert.equal(await store.fetchTo(ref, target), 'written');
    assert.ok((await readFile(target)).equals(bytes));
    assert.equal(await store.fetchTo(ref, target), 'already_there');
    await writeFile(target, 'the only copy of something');
    await rejects(store.fetchTo(ref, target), 'destination_occupied');
    assert.equal(await readFile(target, 'utf8'), 'the only copy of something');
    await rejects(store.fetchTo(ref, outside), 'destination_occupied');
    same(await readdir(join(outside, 'new')), ['video.mp4']);
  },

  async 'lets many writers share one destination'({ store, outside }) {
    const ref = await store.putBuffer(randomBytes(50_000), VIDEO);
    const target = join(outside, 'video.mp4');
    const done = await Promise.all(Array.from({ length: 6 }, () => store.fetchTo(ref, target)));
    assert.ok(done.includes('written'));
    same(await readdir(outside), ['video.mp4']);
  },

  async 'provides a local file of an artifact, with the same bytes each time'({ store }) {
    const bytes = randomBytes(300_000);
    const ref = await store.putBuffer(bytes, VIDEO);
    const paths = await Promise.all([store.localPath(ref), store.localPath(ref)]);
    paths.push(await store.localPath({ sha256: ref.sha256 }));
    for (const path of paths) assert.ok((await readFile(path)).equals(bytes));
  },

  async 'lists artifacts in hash order, page by page'({ store }) {
    const hashes: string[] = [];
    for (let index = 0; index < 12; index += 1)
      hashes.push((await store.putBuffer(Buffer.from(`artifact ${index}`), VIDEO)).sha256);
    hashes.sort();
    const whole = await store.list(null, 100);
    same(hashesOf(whole), hashes);
    for (const { bytes, storedAt } of whole) {
      assert.ok(bytes === 10 || bytes === 11, `${bytes} bytes`);
      assert.equal(new Date(storedAt).toISOString(), storedAt);
      assert.ok(Math.abs(Date.parse(storedAt) - Date.now()) < 3_600_000, 'stored now');
    }
    const paged: string[] = [];
    for (let after: string | null = null; ;) {
      const page = await store.list(after, 5);
      if (page.length === 0) break;
      assert.ok(page.length <= 5);
      paged.push(...hashesOf(page));
      after = paged.at(-1)!;
    }
    same(paged, hashes);
    same(await store.list(hashes.at(-1)!, 5), []);
  },

  async 'removes an artifact, whether it exists or not, and stores it again'({ store }) {
    const [kept, gone] = [randomBytes(1_000), randomBytes(1_000)];
    const other = await store.putBuffer(kept, VIDEO);
    const ref = await store.putBuffer(gone, VIDEO);
    await store.localPath(ref);
    await store.remove(ref.sha256);
    await store.remove(ref.sha256);
    assert.equal(await store.has(ref.sha256), null);
    await rejects(store.read(ref), 'not_found');
    await rejects(store.localPath(ref), 'not_found');
    same(hashesOf(await store.list(null, 10)), [other.sha256]);
    await store.putBuffer(gone, VIDEO);
    assert.ok((await readFile(await store.localPath(ref))).equals(gone));
  },

  async 'creates publicly readable URLs, if it creates any'({ store }) {
    const bytes = randomBytes(10_000);
    const ref = await store.putBuffer(bytes, VIDEO);
    const address = await store.presign?.(ref, { expiresMs: 60_000 });
    if (address === undefined) return;
    const reply = await fetch(address);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'video/mp4');
    assert.ok(Buffer.from(await reply.arrayBuffer()).equals(bytes));
  },

  async 'has one permanent id, if it has one'({ store }) {
    if (store.identity === undefined) return;
    const ids = await Promise.all([store.identity(), store.identity(), store.identity()]);
    assert.equal(new Set([...ids, await store.identity()]).size, 1);
    assert.notEqual(ids[0], '');
  },

  async 'stores any bytes in any chunks, resumed at any position'({ store, stage }) {
    // Edge cases come first, then a random length.
    const cases: { chunks: Buffer[]; cut: number }[] = [
      { chunks: [], cut: 0 },
      { chunks: [Buffer.alloc(0)], cut: 0 },
      { chunks: [Buffer.from('a'), Buffer.alloc(0), Buffer.from('b')], cut: 1 },
    ];
    while (cases.length < 30) {
      const chunks = Array.from({ length: randomInt(9) }, () => randomBytes(randomInt(65)));
      cases.push({ chunks, cut: randomInt(9) });
    }
    for (const [index, { chunks, cut }] of cases.entries()) {
      const owner = `any-${index}`;
      let part = await stage(owner);
      for (const [at, chunk] of chunks.entries()) {
        if (at === cut) {
          await part.close();
          part = await stage(owner);
        }
        await part.write(chunk);
      }
      const whole = Buffer.concat(chunks);
      const shape = `chunks of ${chunks.map(({ length }) => length).join()} bytes, cut at ${cut}`;
      const ref = await part.publish('application/octet-stream');
      assert.equal(ref.sha256, sha256Of(whole), shape);
      assert.ok((await bytesOf(await store.read(ref))).equals(whole), shape);
    }
  },

  async 'reports that it is writable, and leaves nothing behind'({ store }) {
    await store.checkWritable();
    same(await store.list(null, 10), []);
  },
};
