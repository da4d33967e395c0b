import { createHash, randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import fs, {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { artifactStoreConformance } from '../../../packages/testing/src/conformance/artifact-store';
import { ArtifactError, toArtifactError } from '../../../src/stores/artifacts/artifact-store';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { bareFiles } from '../../../src/stores/files/durable-files';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const pathOf = (base: string, sha256: string) => join(base, 'sha256', sha256.slice(0, 2), sha256);

async function openStore() {
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  const store = new FileArtifactStore(join(directory, 'deep', 'root'));
  return {
    store,
    async damage(sha256: string) {
      const handle = await open(pathOf(join(directory, 'deep', 'root'), sha256), 'r+');
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, 1000);
      await handle.write(Buffer.from([byte[0]! ^ 0xff]), 0, 1, 1000);
      await handle.close();
    },
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
}

describe('file store: artifact store conformance', () => {
  for (const { name, run } of artifactStoreConformance(openStore)) it(name, run, 60_000);
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
    expect(await store.localPath(ref)).toBe(path);
    await expect(store.localPath({ sha256: '0'.repeat(64) })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('tells when bytes were last stored, a day at most too early, and touches no file that may be read', async () => {
    const store = new FileArtifactStore(root);
    const put = () => store.putBuffer(Buffer.from('the same again'), { mediaType: 'image/png' });
    const { sha256 } = await put();
    const path = pathOf(root, sha256);
    const hours = (ago: number) => new Date(Date.now() - ago * 3_600_000);
    const storedAt = async () => Date.parse((await store.list(null, 10))[0]!.storedAt);
    await utimes(path, hours(23), hours(23));
    await put();
    expect(await readdir(join(path, '..'))).toEqual([sha256]);
    await utimes(path, hours(48), hours(48));
    const before = await stat(path);
    const upload = await openAsBlob(path);
    await put();
    expect(Date.now() - (await storedAt())).toBeLessThan(3_600_000);
    expect((await stat(path)).mtimeMs).toBe(before.mtimeMs);
    expect(await upload.text()).toBe('the same again');
    // The note counts as the file does.
    const note = `${path}.stored`;
    await utimes(note, hours(40), hours(40));
    expect(await storedAt()).toBe(Math.trunc((await stat(note)).mtimeMs));
    await put();
    expect(Date.now() - (await storedAt())).toBeLessThan(3_600_000);
    expect(await store.list(null, 10)).toHaveLength(1);
    await store.remove(sha256);
    expect(await readdir(join(path, '..'))).toEqual([]);
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

  describe('when a part is staged again', () => {
    const KEY = createHash('sha256').update('owner').digest('hex').slice(0, 32);
    const BOOT = 1_700_000_000;
    let parts: string;
    beforeEach(async () => {
      parts = join(root, 'parts');
      await mkdir(parts, { mode: 0o700 });
      jest.spyOn(Date, 'now').mockReturnValue((BOOT + 500) * 1000);
      jest.spyOn(os, 'uptime').mockReturnValue(500);
    });
    afterEach(() => jest.restoreAllMocks());
    const position = async () => {
      const part = await new FileArtifactStore(root).stage('owner');
      await part.close();
      return part.position;
    };

    it('its name tells its owner and when the machine started', async () => {
      expect(await position()).toBe(0);
      const [name] = await readdir(parts);
      expect(name).toMatch(new RegExp(`^${KEY}\\.${BOOT}\\.[0-9a-f]{12}\\.part$`));
    });

    it.each([
      [-61, 0],
      [-60, 4],
      [0, 4],
      [60, 4],
      [61, 0],
    ])('one whose machine seems to have started %i s later continues at %i', async (seconds, at) => {
      await writeFile(join(parts, `${KEY}.${BOOT + seconds}.00.part`), 'half');
      expect(await position()).toBe(at);
      expect(await readdir(parts)).toHaveLength(1);
    });

    it('the longest is continued, and of the others none is left', async () => {
      for (const [nonce, text] of Object.entries({ a: '1', b: '12345', c: '123', d: '' }))
        await writeFile(join(parts, `${KEY}.${BOOT}.${nonce}.part`), text);
      expect(await position()).toBe(5);
      expect(await readdir(parts)).toHaveLength(1);
    });

    it('one that is gone by then is none, and what is no part of the owner is left alone', async () => {
      await symlink(join(root, 'nowhere'), join(parts, `${KEY}.${BOOT}.a.part`));
      const others = [`${KEY}.${BOOT}.b.tmp`, `${KEY}a.${BOOT}.c.part`];
      for (const name of others) await writeFile(join(parts, name), 'bytes of others');
      expect(await position()).toBe(0);
      expect(await readdir(parts)).toEqual(expect.arrayContaining(others));
      expect(await readdir(parts)).toHaveLength(3);
    });
  });

  it('repairs a stored file that something else cut short', async () => {
    const store = new FileArtifactStore(root);
    const bytes = randomBytes(1000);
    const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    await writeFile(pathOf(root, ref.sha256), bytes.subarray(0, 10));
    await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    expect((await buffer(await store.read(ref))).equals(bytes)).toBe(true);
  });

  it('repairs a stored file of the right length with wrong bytes, as a power cut leaves it', async () => {
    const store = new FileArtifactStore(root);
    const bytes = randomBytes(1000);
    const ref = await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    await writeFile(pathOf(root, ref.sha256), Buffer.alloc(bytes.length));
    await store.putBuffer(bytes, { mediaType: 'video/mp4' });
    expect((await buffer(await store.read(ref))).equals(bytes)).toBe(true);
  });

  it('removes old refused bytes, and counts first when it is asked to', async () => {
    const store = new FileArtifactStore(root);
    const before = Date.now() - 90 * 86_400_000;
    expect(await store.pruneRejected({ before, dryRun: false })).toEqual({ removed: 0, removedBytes: 0 });
    for (const text of ['<html>', 'young']) {
      const part = await store.stage(text);
      await part.write(Buffer.from(text));
      const { sha256 } = await part.reject();
      if (text === '<html>') await utimes(join(root, 'rejected', `${sha256}.rejected`), 1_000, 1_000);
    }
    const old = { removed: 1, removedBytes: 6 };
    expect(await store.pruneRejected({ before, dryRun: true })).toEqual(old);
    expect(await store.pruneRejected({ before, dryRun: false })).toEqual(old);
    expect(await readdir(join(root, 'rejected'))).toHaveLength(1);
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

  it('removes parts from the very age on that was asked for, and passes over what is gone already', async () => {
    const store = new FileArtifactStore(root);
    await (await store.stage('part')).close();
    const [name] = await readdir(join(root, 'parts'));
    await utimes(join(root, 'parts', name!), 1_000, 1_000);
    await symlink(join(root, 'nowhere'), join(root, 'parts', 'gone'));
    expect(await store.removeStaleParts(5_000, 1_004_999)).toBe(0);
    expect(await store.removeStaleParts(5_000, 1_005_000)).toBe(1);
    expect(await readdir(join(root, 'parts'))).toEqual(['gone']);
  });

  it('[C5.4c] says that it cannot be read, not that it has nothing', async () => {
    const store = new FileArtifactStore(root);
    const sha256 = 'ab'.repeat(32);
    await mkdir(join(root, 'sha256'));
    for (const place of ['parts', join('sha256', 'ab'), 'store.json'])
      await writeFile(join(root, place), '{}');
    const failed = /^The artifact store is not writable \((?:open|stat|scandir|mkdir): ENOTDIR\)\.$/;
    await expect(store.read({ sha256 })).rejects.toThrow(failed);
    await expect(store.has(sha256)).rejects.toThrow(failed);
    await expect(store.removeStaleParts()).rejects.toThrow(failed);
    await expect(store.identity()).rejects.toThrow(
      "The artifact store's store.json does not contain a store ID.",
    );
    const below = new FileArtifactStore(join(root, 'parts', 'below'));
    await expect(below.identity()).rejects.toThrow(failed);
    await expect(below.identity()).rejects.toBeInstanceOf(ArtifactError);
  });

  it('says what it lacks', async () => {
    const store = new FileArtifactStore(root);
    const sha256 = 'ab'.repeat(32);
    await expect(store.read({ sha256 })).rejects.toThrow(
      new ArtifactError('not_found', `The artifact store does not have ${sha256}.`),
    );
    await expect(store.has('ab')).rejects.toThrow(
      new ArtifactError('not_found', "An artifact's SHA-256 must be 64 lowercase hexadecimal digits."),
    );
  });

  it('gives no path of a file that is no artifact, although it is there', async () => {
    const store = new FileArtifactStore(root);
    for (const name of ['ab', `${'ab'.repeat(32)}f`, 'g'.repeat(64)]) {
      await mkdir(join(root, 'sha256', name.slice(0, 2)), { recursive: true });
      await writeFile(pathOf(root, name), 'x');
      await expect(store.localPath({ sha256: name })).rejects.toMatchObject({ code: 'not_found' });
    }
    await writeFile(join(root, 'sha256', 'aa'), 'x');
    const outside = `/../${'aa'.repeat(32)}`;
    await expect(store.localPath({ sha256: outside })).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.list(null, 10)).toEqual([]);
  });

  it('has one name for good, which another store does not have', async () => {
    const store = new FileArtifactStore(join(root, 'a'));
    const names = await Promise.all([store.identity(), new FileArtifactStore(join(root, 'a')).identity()]);
    expect(names[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(names[1]).toBe(names[0]);
    expect(await new FileArtifactStore(join(root, 'b')).identity()).not.toBe(names[0]);
    expect(store.kind).toBe('file');
  });

  it('finds that it cannot be written by writing, and leaves nothing behind', async () => {
    const store = new FileArtifactStore(root);
    await store.checkWritable();
    expect(await readdir(join(root, 'parts'))).toEqual([]);
    const handle = await open(join(root, 'any'), 'w');
    const full = Object.assign(new Error('no room'), { code: 'ENOSPC' });
    const write = jest.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'write').mockRejectedValue(full);
    await handle.close();
    try {
      await expect(store.checkWritable()).rejects.toMatchObject({ code: 'no_space' });
      await expect(store.putBuffer(Buffer.from('x'), { mediaType: 'a/b' })).rejects.toMatchObject({
        code: 'no_space',
      });
    } finally {
      write.mockRestore();
    }
    expect(await readdir(join(root, 'parts'))).toEqual([]);
  });

  it('is found not to be writable where the disk refuses what a result needs', async () => {
    const store = new FileArtifactStore(root);
    for (const [call, code] of [
      ['sync', 'ENOSYS'],
      ['link', 'EACCES'],
      ['unlink', 'EPERM'],
    ] as const) {
      const refused = Object.assign(new Error(code), { code, syscall: call });
      const spied =
        call === 'sync'
          ? jest.spyOn(bareFiles, 'sync').mockRejectedValue(refused)
          : jest.spyOn(fs, call).mockRejectedValue(refused);
      await expect(store.checkWritable()).rejects.toThrow(`(${call}: ${code})`);
      spied.mockRestore();
    }
    await store.checkWritable();
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
