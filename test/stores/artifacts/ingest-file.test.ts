import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileArtifactStore } from '../../../src/stores/artifacts/file-store';
import { ingestFile } from '../../../src/stores/artifacts/user-files';
import { makePng } from './make-media';

let directory: string;
let store: FileArtifactStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ingest-'));
  store = new FileArtifactStore(join(directory, 'store'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it('stores an image under its hash with the type of its bytes, whatever it is called', async () => {
  const path = join(directory, 'picture.mp4');
  await writeFile(path, makePng(3, 3));
  const { artifact, kind } = await ingestFile(store, path);
  expect(kind).toBe('image');
  expect(artifact.mediaType).toBe('image/png');
  expect(await store.has(artifact.sha256)).toBe(makePng(3, 3).length);
});

it('[C2.4.6] a file that is no media is never taken for an upload', async () => {
  await expect(ingestFile(store, '/etc/passwd')).rejects.toMatchObject({ code: 'not_media' });
  const path = join(directory, 'secret-name.png');
  await writeFile(path, 'API_KEY=1234');
  const error = await ingestFile(store, path).catch((thrown: unknown) => thrown as Error);
  expect(error).toMatchObject({ code: 'not_media' });
  expect((error as Error).message).not.toContain('secret-name');
});

it('refuses directories, pipes, links, absent and oversized files', async () => {
  const fifo = join(directory, 'pipe');
  execFileSync('mkfifo', [fifo]);
  const image = join(directory, 'image.png');
  await writeFile(image, makePng(3, 3));
  await symlink(image, join(directory, 'link'));
  for (const path of [directory, fifo, join(directory, 'link'), join(directory, 'absent')])
    await expect(ingestFile(store, path)).rejects.toMatchObject({ code: 'not_readable' });
  await expect(ingestFile(store, image, { maxBytes: 10 })).rejects.toMatchObject({ code: 'too_large' });
  await writeFile(image, '');
  await expect(ingestFile(store, image)).rejects.toMatchObject({ code: 'not_media' });
});
