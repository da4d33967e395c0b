import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { bareFiles } from '../../../src/stores/files/durable-files';

const MIB = 1024 * 1024;

describe('a part that the disk begins to keep while it still comes', () => {
  let dir: string;
  let store: FileArtifactStore;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-sync-'));
    store = new FileArtifactStore(path.join(dir, 'store'));
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('is published whole', async () => {
    const started = jest.spyOn(bareFiles, 'syncData');
    const part = await store.stage('long');
    for (let mebibyte = 0; mebibyte < 40; mebibyte += 1) await part.write(Buffer.alloc(MIB, mebibyte));
    const ref = await part.publish('video/mp4');
    expect(started).toHaveBeenCalledTimes(1);
    expect(await store.has(ref.sha256)).toBe(40 * MIB);
  });

  test('is never published when such a beginning failed: the system tells an error of the disk only once', async () => {
    const full = Object.assign(new Error('no room'), { code: 'ENOSPC' });
    jest.spyOn(bareFiles, 'syncData').mockRejectedValueOnce(full);
    const part = await store.stage('full');
    for (let mebibyte = 0; mebibyte < 33; mebibyte += 1) await part.write(Buffer.alloc(MIB, 7));
    const before = await readdir(path.join(dir, 'store'), { recursive: true });
    await expect(part.publish('video/mp4')).rejects.toMatchObject({
      name: 'ArtifactError',
      code: 'no_space',
    });
    expect(await readdir(path.join(dir, 'store'), { recursive: true })).toEqual(before);
    await part.discard();
  });
});
