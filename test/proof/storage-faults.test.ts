import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { DownloadHarness, fileAnswer, sha256 } from '../activities/download-harness';
import { makeMp4 } from '../stores/artifacts/make-media';
import { fenceEntry, LOG_KEY } from '../support/log-entries';
import { proved } from '../support/proof';
import { filesIn } from './storage-faults/files-in';
import { mountSmallDisk, type SmallDisk } from './storage-faults/small-disk';
import { startWriter } from './storage-faults/writer-process';

const counts = { disks: 0, faults: 0, kills: 0, writers: 0, reads: 0, partial: 0 };
const MEDIA = { mediaType: 'video/mp4' };
const BYTES = Buffer.alloc(200_000, 'artifact ');
let folder: string;
let disk: SmallDisk | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'storage-faults-'));
});
beforeEach(() => {
  disk = mountSmallDisk('size=512k');
  if (disk !== undefined) counts.disks += 1;
});
afterEach(() => disk?.remove());
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  proved('storage-faults', {
    'small file systems mounted': counts.disks,
    'writes to a full or read-only store': counts.faults,
    'concurrent writers of one artifact': counts.writers,
    'reads beside them': counts.reads,
    'writers killed at a named point': counts.kills,
    'partial files visible': counts.partial,
  });
});

/** Everything below its final name is whole. */
async function expectWhole(store: string): Promise<string[]> {
  const names = await filesIn(join(store, 'sha256'));
  for (const name of names) {
    const whole = name.endsWith(sha256(await readFile(name)));
    if (!whole) counts.partial += 1;
    expect({ name, whole }).toEqual({ name, whole: true });
  }
  return names;
}

async function fault(work: Promise<unknown>, code: string, secret: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason as { code?: string; message: string },
  );
  counts.faults += 1;
  expect(error).toMatchObject({ name: 'ArtifactError', code });
  expect(JSON.stringify([error?.message, error])).not.toContain(secret);
}

describe('artifacts', () => {
  it('a full store says so, shows nothing, and takes the bytes once there is room', async () => {
    if (disk === undefined) return;
    const store = new FileArtifactStore(disk.path);
    await fault(store.putBuffer(Buffer.alloc(600_000), MEDIA), 'no_space', disk.path);
    expect(await filesIn(disk.path)).toEqual([]);
    await disk.fill();
    await fault(store.putBuffer(BYTES, MEDIA), 'no_space', disk.path);
    await fault(store.checkWritable(), 'no_space', disk.path);
    expect(await expectWhole(disk.path)).toEqual([]);
    await disk.free();
    const ref = await store.putBuffer(BYTES, MEDIA);
    await disk.fill();
    expect((await buffer(await store.read(ref))).equals(BYTES)).toBe(true);
    // What is there already is not written again.
    await fault(store.putBuffer(BYTES, MEDIA), 'no_space', disk.path);
    expect(await expectWhole(disk.path)).toHaveLength(1);
    const elsewhere = new FileArtifactStore(join(folder, 'elsewhere'));
    const big = await elsewhere.putBuffer(Buffer.alloc(600_000, 7), MEDIA);
    await fault(elsewhere.fetchTo(big, join(disk.path, 'out.mp4')), 'no_space', disk.path);
    expect((await readdir(disk.path)).filter((name) => name.startsWith('out'))).toEqual([]);
  });

  it('a part that met a full store keeps what it said it has, and is gone on with later', async () => {
    if (disk === undefined) return;
    const store = new FileArtifactStore(disk.path);
    const part = await store.stage('owner');
    await part.write(BYTES);
    await disk.fill();
    await fault(part.write(BYTES), 'no_space', disk.path);
    expect([part.position, part.sha256()]).toEqual([BYTES.length, sha256(BYTES)]);
    await part.close();
    // The next try copies the part: without room for that the old one must not be lost.
    await fault(store.stage('owner'), 'no_space', disk.path);
    await disk.free();
    const next = await store.stage('owner');
    expect([next.position, next.sha256()]).toEqual([BYTES.length, sha256(BYTES)]);
    await next.publish('video/mp4');
    expect(await expectWhole(disk.path)).toHaveLength(1);
  });

  it('a store without room for one more name says so', async () => {
    disk?.remove();
    disk = mountSmallDisk('size=512k,nr_inodes=4');
    if (disk === undefined) return;
    const store = new FileArtifactStore(disk.path);
    await fault(store.putBuffer(BYTES, MEDIA), 'no_space', disk.path);
    expect(await filesIn(join(disk.path, 'sha256'))).toEqual([]);
  });

  it('a read-only store gives what it has and takes nothing', async () => {
    if (disk === undefined) return;
    const store = new FileArtifactStore(disk.path);
    const ref = await store.putBuffer(BYTES, MEDIA);
    disk.readOnly(true);
    for (const work of [
      () => store.putBuffer(Buffer.from('more'), MEDIA),
      () => store.stage('owner'),
      () => store.checkWritable(),
      () => store.fetchTo(ref, join(disk!.path, 'out.mp4')),
    ])
      await fault(work(), 'not_writable', disk.path);
    expect(await store.has(ref.sha256)).toBe(BYTES.length);
    expect((await buffer(await store.read(ref))).equals(BYTES)).toBe(true);
    disk.readOnly(false);
    expect(await store.fetchTo(ref, join(disk.path, 'out.mp4'))).toBe('written');
  });

  it('a limit of the process is a full store too', async () => {
    const root = join(folder, 'limited');
    const writer = startWriter(root, 'artifact', undefined, 64);
    expect(await writer.line()).toBe('ready');
    writer.go();
    expect(await writer.answer()).toMatchObject({ name: 'ArtifactError', code: 'no_space' });
    counts.faults += 1;
    expect(await filesIn(root)).toEqual([]);
  });

  it.each(['full', 'read-only'])(
    'a download to a %s store is tried again, and done once that is over',
    async (how) => {
      if (disk === undefined) return;
      const small = disk;
      const harness = await DownloadHarness.open();
      const mp4 = await makeMp4(5);
      harness.store = new FileArtifactStore(small.path);
      harness.content = fileAnswer(mp4);
      if (how === 'full') await small.fill();
      else small.readOnly(true);
      harness.bounds = { maxTries: 2, livingTries: 2 };
      expect((await harness.run()).result).toMatchObject({
        outcome: 'content_unavailable',
        reason: 'storage',
      });
      expect(await filesIn(join(small.path, 'sha256'))).toEqual([]);
      counts.faults += 2;
      harness.bounds = {};
      harness.heartbeats.length = 0;
      const over = async () => (how === 'full' ? small.free() : small.readOnly(false));
      const { result, failures } = await harness.run({}, () => void over());
      expect(failures.map((failure) => failure.class)).toContain('storage');
      expect(result).toMatchObject({ outcome: 'downloaded', artifact: { sha256: sha256(mp4) } });
      await expectWhole(small.path);
      await harness.close();
    },
  );

  it('16 writers of one artifact in 4 processes agree, and a reader never sees less than all of it', async () => {
    const root = join(folder, 'race');
    const store = new FileArtifactStore(join(root, 'store'));
    const writers = [1, 2, 3, 4].map(() => startWriter(root, 'race'));
    await Promise.all(writers.map((writer) => writer.line()));
    let over = false;
    const reader = (async () => {
      while (!over) {
        if ((await store.has(sha256(BYTES))) === null) {
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        const whole = (await buffer(await store.read({ sha256: sha256(BYTES) }))).equals(BYTES);
        if (!whole) counts.partial += 1;
        counts.reads += 1;
      }
    })();
    for (const writer of writers) writer.go();
    const answers = (await Promise.all(writers.map((writer) => writer.answer()))) as { sha256: string }[][];
    over = true;
    await reader;
    counts.writers += answers.flat().length;
    expect(answers.flat().map((ref) => ref.sha256)).toEqual(Array(16).fill(sha256(BYTES)));
    expect(await expectWhole(join(root, 'store'))).toHaveLength(1);
    expect(await readdir(join(root, 'store', 'parts'))).toEqual([]);
  });

  it('16 writers of one destination leave one whole file and no other', async () => {
    const store = new FileArtifactStore(join(folder, 'destination'));
    const ref = await store.putBuffer(BYTES, MEDIA);
    const out = join(folder, 'out');
    const told = await Promise.all(Array.from({ length: 16 }, () => store.fetchTo(ref, join(out, 'a.mp4'))));
    counts.writers += told.length;
    expect(told.filter((word) => word === 'written')).toHaveLength(1);
    expect(await readdir(out)).toEqual(['a.mp4']);
    expect((await readFile(join(out, 'a.mp4'))).equals(BYTES)).toBe(true);
  });
});

describe('a writer that is killed', () => {
  const POINTS = ['open', 'half', 'written', 'synced', 'linked', 'named', 'done'];
  const isThere = (point: string) => POINTS.indexOf(point) >= POINTS.indexOf('linked');

  async function killAt(what: string, point: string): Promise<string> {
    const root = join(folder, `${what}-${point}`);
    const writer = startWriter(root, what, point);
    expect(await writer.line()).toBe('stopped');
    await writer.kill();
    counts.kills += 1;
    return root;
  }

  it.concurrent.each(POINTS)(
    'at "%s" of an artifact leaves all of it or nothing, and the next writer ends the work',
    async (point) => {
      const root = join(await killAt('artifact', point), 'store');
      expect(await expectWhole(root)).toHaveLength(isThere(point) ? 1 : 0);
      const store = new FileArtifactStore(root);
      expect(await store.putBuffer(BYTES, MEDIA)).toMatchObject({ sha256: sha256(BYTES) });
      expect(await expectWhole(root)).toHaveLength(1);
      await store.removeStaleParts(0, Date.now() + 1000);
      expect(await readdir(join(root, 'parts'))).toEqual([]);
    },
  );

  it.concurrent.each(POINTS)('at "%s" of a user\'s file leaves all of it or nothing', async (point) => {
    const root = await killAt('file', point);
    const out = join(root, 'out', 'video.mp4');
    const found = await readFile(out).catch(() => undefined);
    if (found !== undefined && !found.equals(BYTES)) counts.partial += 1;
    expect({ point, whole: found?.equals(BYTES) }).toEqual({
      point,
      whole: isThere(point) ? true : undefined,
    });
    const store = new FileArtifactStore(join(root, 'store'));
    const ref = await store.putBuffer(BYTES, MEDIA);
    expect(await store.fetchTo(ref, out)).toBe(isThere(point) ? 'already_there' : 'written');
  });

  it.concurrent.each(POINTS)(
    '[C4.4a] at "%s" of an entry leaves an entry or none, and one owner of its place in the log',
    async (point) => {
      const root = join(await killAt('entry', point), 'journal');
      const journal = createFileJournal({ root });
      expect(await journal.read(LOG_KEY)).toMatchObject(isThere(point) ? [{ sender: 'of the writer' }] : []);
      expect(await journal.append(LOG_KEY, 0, fenceEntry({ sender: 'mine' }))).toBe(
        isThere(point) ? 'lost' : 'won',
      );
      const standing = isThere(point) ? 'of the writer' : 'mine';
      expect(await journal.read(LOG_KEY)).toMatchObject([{ sender: standing }]);
      // The log goes on behind whatever stands there.
      expect(await journal.append(LOG_KEY, 1, fenceEntry())).toBe('won');
    },
  );
});
