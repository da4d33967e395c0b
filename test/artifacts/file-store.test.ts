import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactError, toArtifactError } from '../../src/artifacts/artifact-store';
import { FileArtifactStore } from '../../src/artifacts/file-store';
import { artifactStoreConformance, readAll } from './artifact-store-conformance';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const pathOf = (base: string, sha256: string) => join(base, 'sha256', sha256.slice(0, 2), sha256);

artifactStoreConformance('file store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  const store = new FileArtifactStore(join(directory, 'deep', 'root'));
  return {
    store,
    async damage(sha256) {
      const handle = await open(pathOf(join(directory, 'deep', 'root'), sha256), 'r+');
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, 1000);
      await handle.write(Buffer.from([byte[0]! ^ 0xff]), 0, 1, 1000);
      await handle.close();
    },
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
});

describe('file store', () => {
  it('lays files out by hash, readable by their owner alone, and leaves no part', async () => {
    const store = new FileArtifactStore(join(root, 'a'));
    const ref = await store.putBuffer(Buffer.from('x'), { mediaType: 'video/mp4' });
    const path = pathOf(join(root, 'a'), ref.sha256);
    expect(await readFile(path, 'utf8')).toBe('x');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(path)).nlink).toBe(1);
    for (const directory of [join(root, 'a'), join(root, 'a', 'parts'), join(path, '..')])
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(await readdir(join(root, 'a', 'parts'))).toEqual([]);
    expect(store.localPath(ref.sha256)).toBe(path);
    expect(store.localPath('0'.repeat(64))).toBeUndefined();
  });

  it('keeps refused bytes under <hash>.rejected', async () => {
    const store = new FileArtifactStore(root);
    const part = await store.stage('owner');
    await part.write(Buffer.from('<html>'));
    const ref = await part.reject();
    expect(await readFile(join(root, 'rejected', `${ref.sha256}.rejected`), 'utf8')).toBe('<html>');
  });

  it('resumes a part whose writer was killed, without its close', async () => {
    const part = await new FileArtifactStore(root).stage('owner');
    await part.write(Buffer.from('half'));
    const resumed = await new FileArtifactStore(root).stage('owner');
    expect(resumed.position).toBe(4);
    await Promise.all([part.close(), resumed.close()]);
  });

  it('does not resume a part from before the machine started', async () => {
    const store = new FileArtifactStore(root);
    const part = await store.stage('owner');
    await part.write(Buffer.from('half'));
    await part.close();
    const [name] = await readdir(join(root, 'parts'));
    const [key, boot, nonce] = name!.split('.');
    await writeFile(join(root, 'parts', `${key}.${Number(boot) - 3600}.${nonce}.part`), 'longer but older');
    await rm(join(root, 'parts', name!));
    const fresh = await store.stage('owner');
    expect(fresh.position).toBe(0);
    await fresh.close();
    expect(await readdir(join(root, 'parts'))).toHaveLength(1);
  });

  it('repairs a stored file that something else cut short', async () => {
    const store = new FileArtifactStore(root);
    const bytes = randomBytes(1000);
    const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    await writeFile(pathOf(root, ref.sha256), bytes.subarray(0, 10));
    await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    expect((await readAll(await store.read(ref))).equals(bytes)).toBe(true);
  });

  it('repairs a stored file of the right length with wrong bytes, as a power cut leaves it', async () => {
    const store = new FileArtifactStore(root);
    const bytes = randomBytes(1000);
    const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    await writeFile(pathOf(root, ref.sha256), Buffer.alloc(bytes.length));
    await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    expect((await readAll(await store.read(ref))).equals(bytes)).toBe(true);
  });

  it('removes parts that nobody touched for long', async () => {
    const store = new FileArtifactStore(root);
    await (await store.stage('old')).close();
    const [old] = await readdir(join(root, 'parts'));
    await (await store.stage('young')).close();
    const past = new Date(Date.now() - 10 * 86_400_000);
    await utimes(join(root, 'parts', old!), past, past);
    expect(await store.removeStaleParts()).toBe(1);
    expect(await readdir(join(root, 'parts'))).toHaveLength(1);
    expect(await new FileArtifactStore(join(root, 'none')).removeStaleParts()).toBe(0);
  });

  it('[C5.4c] names no path when it cannot be written', async () => {
    await mkdir(join(root, 'secret-place'));
    await writeFile(join(root, 'secret-place', 'file'), '');
    const store = new FileArtifactStore(join(root, 'secret-place', 'file', 'store'));
    const error = await store.checkWritable().then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    expect(error).toBeInstanceOf(ArtifactError);
    expect(error).toMatchObject({ code: 'not_writable' });
    expect(`${error?.message}${error?.stack}${JSON.stringify(error)}`).not.toContain('secret-place');
  });

  it.each([
    ['ENOSPC', 'no_space'],
    ['EDQUOT', 'no_space'],
    ['EROFS', 'not_writable'],
    ['EIO', 'storage'],
  ])('turns %s into %s', (code, expected) => {
    const system = Object.assign(new Error(`${code}: /home/somebody/film.mp4`), { code });
    expect(toArtifactError(system)).toMatchObject({ code: expected });
    expect(toArtifactError(system).message).not.toContain('somebody');
  });
});
