import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import fc from 'fast-check';
import { type ArtifactStore, type StagedArtifact } from '../../src/artifacts/artifact-store';

export interface StoreUnderTest {
  readonly store: ArtifactStore;
  /** Changes one byte of a stored artifact behind the store's back. */
  damage(sha256: string): Promise<void>;
  dispose(): Promise<void>;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

/** What every artifact store promises; run once per implementation. */
export function artifactStoreConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name}: artifact store conformance`, () => {
    let under: StoreUnderTest;
    let store: ArtifactStore;
    let outside: string;
    const parts: StagedArtifact[] = [];
    const stage = async (owner: string) => {
      const part = await store.stage(owner);
      parts.push(part);
      return part;
    };

    beforeEach(async () => {
      under = await open();
      store = under.store;
      outside = await mkdtemp(join(tmpdir(), 'store-out-'));
    });
    afterEach(async () => {
      for (const part of parts.splice(0)) await part.close();
      await under.dispose();
      await rm(outside, { recursive: true, force: true });
    });

    it('names bytes by their SHA-256 and gives them back', async () => {
      const bytes = randomBytes(3_000_000);
      const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
      expect(ref).toEqual({
        uri: `artifact:sha256/${sha256(bytes)}`,
        mediaType: 'video/mp4',
        bytes: bytes.length,
        sha256: sha256(bytes),
      });
      expect((await readAll(await store.read(ref))).equals(bytes)).toBe(true);
      expect(await store.has(ref.sha256)).toBe(bytes.length);
    });

    it('stores the same bytes twice without a change, also when both writers run at once', async () => {
      const bytes = randomBytes(100_000);
      const refs = await Promise.all(
        Array.from({ length: 8 }, () => store.putBuffer(bytes, { mediaType: 'image/png' })),
      );
      expect(new Set(refs.map((ref) => ref.uri)).size).toBe(1);
      expect((await readAll(await store.read(refs[0]!))).equals(bytes)).toBe(true);
    });

    it('answers null and not_found for what it does not have', async () => {
      const absent = sha256(Buffer.from('absent'));
      expect(await store.has(absent)).toBeNull();
      await expect(store.read({ sha256: absent })).rejects.toMatchObject({ code: 'not_found' });
    });

    it.each(['../../etc/passwd', 'A'.repeat(64), 'ab', ''])('takes %j for no artifact', async (name) => {
      await expect(store.has(name)).rejects.toMatchObject({ code: 'not_found' });
      await expect(store.read({ sha256: name })).rejects.toMatchObject({ code: 'not_found' });
      expect(store.localPath?.(name)).toBeUndefined();
    });

    it('fails a read at its end when the stored bytes were changed', async () => {
      const ref = await store.putBuffer(randomBytes(200_000), { mediaType: 'video/mp4' });
      await under.damage(ref.sha256);
      await expect(store.read(ref).then(readAll)).rejects.toMatchObject({ code: 'hash_mismatch' });
      await expect(store.fetchTo(ref, join(outside, 'x.mp4'))).rejects.toMatchObject({
        code: 'hash_mismatch',
      });
      expect(await readdir(outside)).toEqual([]);
    });

    it('shows nothing of a source that fails half way', async () => {
      async function* broken() {
        yield Buffer.from('first half');
        throw new Error('source broke');
      }
      await expect(store.putStream(broken(), { mediaType: 'video/mp4' })).rejects.toThrow('source broke');
      expect(await store.has(sha256(Buffer.from('first half')))).toBeNull();
    });

    it('gives the same owner its part back, and nobody else', async () => {
      const first = await stage('execution-1');
      await first.write(Buffer.from('hello '));
      await first.close();
      expect((await stage('execution-2')).position).toBe(0);
      const again = await stage('execution-1');
      expect(again.position).toBe(6);
      expect(again.sha256()).toBe(sha256(Buffer.from('hello ')));
      await again.write(Buffer.from('world'));
      const ref = await again.publish('text/plain');
      expect(ref.sha256).toBe(sha256(Buffer.from('hello world')));
      expect((await stage('execution-1')).position).toBe(0);
    });

    it('keeps a part whole although the earlier try of its owner still writes', async () => {
      const zombie = await stage('execution-1');
      await zombie.write(Buffer.from('same start, '));
      const current = await stage('execution-1');
      await zombie.write(Buffer.from('zombie bytes').fill('z'));
      await current.write(Buffer.from('right end'));
      await expect(zombie.publish('video/mp4')).rejects.toMatchObject({ code: 'superseded' });
      const ref = await current.publish('video/mp4');
      expect((await readAll(await store.read(ref))).toString()).toBe('same start, right end');
    });

    it('starts a part again at 0', async () => {
      const part = await stage('execution-1');
      await part.write(Buffer.from('of the old entity'));
      await part.restart();
      expect(part.position).toBe(0);
      await part.write(Buffer.from('new'));
      const ref = await part.publish('video/mp4');
      expect((await readAll(await store.read(ref))).toString()).toBe('new');
    });

    it('forgets a discarded part and takes no more writes', async () => {
      const part = await stage('execution-1');
      await part.write(Buffer.from('gone'));
      await part.discard();
      await expect(part.write(Buffer.from('more'))).rejects.toMatchObject({ code: 'superseded' });
      expect((await stage('execution-1')).position).toBe(0);
    });

    it('[C4.3] keeps refused bytes for a person and never as an artifact', async () => {
      const part = await stage('execution-1');
      await part.write(Buffer.from('{"error":"no video"}'));
      const ref = await part.reject();
      expect(ref).toMatchObject({ mediaType: 'application/octet-stream', bytes: 20 });
      expect(await store.has(ref.sha256)).toBeNull();
    });

    it('writes a file of the user once and overwrites no other content', async () => {
      const bytes = randomBytes(50_000);
      const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
      const target = join(outside, 'new', 'video.mp4');
      expect(await store.fetchTo(ref, target)).toBe('written');
      expect((await readFile(target)).equals(bytes)).toBe(true);
      expect(await store.fetchTo(ref, target)).toBe('already_there');
      await writeFile(target, 'the only copy of something');
      await expect(store.fetchTo(ref, target)).rejects.toMatchObject({ code: 'destination_occupied' });
      expect(await readFile(target, 'utf8')).toBe('the only copy of something');
      await expect(store.fetchTo(ref, outside)).rejects.toMatchObject({ code: 'destination_occupied' });
      expect(await readdir(join(outside, 'new'))).toEqual(['video.mp4']);
    });

    it('lets many writers of one destination agree', async () => {
      const ref = await store.putBuffer(randomBytes(50_000), { mediaType: 'video/mp4' });
      const target = join(outside, 'video.mp4');
      const done = await Promise.all(Array.from({ length: 6 }, () => store.fetchTo(ref, target)));
      expect(done).toContain('written');
      expect(await readdir(outside)).toEqual(['video.mp4']);
    });

    it('holds any bytes in any chunks, resumed at any place', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }),
          fc.nat({ max: 8 }),
          async (chunks, cut) => {
            const owner = randomBytes(8).toString('hex');
            let part = await stage(owner);
            for (const [index, chunk] of chunks.entries()) {
              if (index === cut) {
                await part.close();
                part = await stage(owner);
              }
              await part.write(chunk);
            }
            const ref = await part.publish('application/octet-stream');
            expect(ref.sha256).toBe(sha256(Buffer.concat(chunks)));
            expect((await readAll(await store.read(ref))).equals(Buffer.concat(chunks))).toBe(true);
          },
        ),
        { numRuns: 30 },
      );
    });

    it('says that it can be written', async () => {
      await expect(store.checkWritable()).resolves.toBeUndefined();
    });
  });
}
