import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createJournalConformance, recordStoreConformance } from '../../../packages/testing/src';
import { bareFiles } from '../../../src/stores/files/durable-files';
import { createFileJournal, createFileRecords, hostId } from '../../../src/stores/journal/file-journal';
import { JournalRecordError } from '../../../src/stores/journal/records';
import { answers } from '../../domain/create-answers';
import { makeVideoTask } from '../../domain/make-video-task';
import { answerEntry, fenceEntry, intentEntry, LOG_KEY as KEY } from '../../support/log-entries';

const HASH = createHash('sha256').update('default\norder-1').digest('hex');

let folder: string;
const roots: string[] = [];
const newRoot = async (): Promise<string> => {
  const root = join(await mkdtemp(join(folder, 'j-')), 'deep', 'journal');
  roots.push(root);
  return root;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'temporal-media-journal-'));
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a journal in files', () => {
  const checks = [
    ...createJournalConformance(async () => {
      const root = await newRoot();
      return () => createFileJournal({ root });
    }),
    ...[false, true].flatMap((shared) =>
      recordStoreConformance(async () => {
        const root = await newRoot();
        return () => createFileRecords({ root, shared });
      }).map(({ name, run }) => ({ name: `${name} (${shared ? 'any file system' : 'this host'})`, run })),
    ),
  ];
  test.each(checks)('$name', ({ run }) => run());

  it('lays its records where the design says, for nobody else to read', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    expect(journal.kind).toBe('file');
    for (let n = 0; n <= 12; n++) await journal.append(KEY, n, intentEntry());
    const place = join(root, HASH.slice(0, 2), HASH);
    expect(await readdir(place)).toHaveLength(13);
    expect(await readdir(place)).toEqual(expect.arrayContaining(['0.entry', '12.entry']));
    await journal.putMark('one');
    const mark = join(root, 'marks', `${createHash('sha256').update('one').digest('hex')}.mark`);
    expect(await readFile(mark, 'utf8')).toBe('');
    const log = createHash('sha256').update('default\nbook').digest('hex');
    await journal.putRecord({ namespace: 'default', name: 'book' }, 3, {
      ...{ v: 1, kind: 'fence', nonce: 'n' },
      at: new Date(0).toISOString(),
    });
    expect(await readdir(join(root, 'campaigns', log.slice(0, 2), log))).toEqual(['3.record']);
    if (process.platform === 'win32') return;
    expect((await stat(join(place, '0.entry'))).mode & 0o777).toBe(0o600);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    const open = join(root, 'open');
    for (const name of await readdir(open, { recursive: true })) {
      const { mode } = await stat(join(open, name));
      expect(mode & 0o077).toBe(0);
    }
  });

  it('belongs to this host, unless it is declared as shared', async () => {
    const root = await newRoot();
    expect((await createFileJournal({ root }).identity()).hostId).toBe(await hostId());
    expect((await createFileJournal({ root, shared: false }).identity()).hostId).toBe(await hostId());
    expect((await createFileJournal({ root, shared: true }).identity()).hostId).toBeNull();
  });

  it('stops at a record that it cannot read, and says which', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.append(KEY, 0, intentEntry());
    const entry = join(root, HASH.slice(0, 2), HASH, '0.entry');
    await writeFile(entry, '{"v":1,');
    await expect(journal.read(KEY)).rejects.toThrow(
      new JournalRecordError('The journal contains a damaged log entry (invalid JSON), so nothing is sent.'),
    );
    await writeFile(entry, '{"v":2}');
    await expect(journal.read(KEY)).rejects.toThrow(
      new JournalRecordError(
        'The journal contains a log entry of an unknown version or shape, so nothing is sent.',
      ),
    );
    await expect(journal.scan(null, 10)).rejects.toThrow(JournalRecordError);
  });

  it('passes over a hint that it cannot read: only entries decide', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.append(KEY, 0, intentEntry({ bodyHash: 'same' }));
    const hints = (await readdir(join(root, 'open'), { recursive: true })).filter((name) =>
      name.endsWith('.json'),
    );
    const hint = join(root, 'open', hints[0]!);
    await writeFile(join(dirname(hint), 'half.json'), '{');
    await mkdir(join(dirname(hint), 'folder.json'));
    expect(await journal.findOpenByBody('same')).toHaveLength(1);
  });

  it('lists only folders of keys, whatever else lies there', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.append(KEY, 0, intentEntry());
    await journal.checkWritable();
    await mkdir(join(root, HASH.slice(0, 2), `${HASH}.old`));
    await mkdir(join(root, 'lost+found'));
    await mkdir(join(root, '0ff'));
    expect((await journal.scan(null, 10)).logs).toHaveLength(1);
    expect(await journal.scan(HASH, 10)).toEqual({ logs: [], next: null });
    expect((await journal.scan('0'.repeat(64), 10)).logs).toHaveLength(1);
    expect((await journal.scan(null, 1)).next).toBe(HASH);
  });

  it('goes on from any folder, seen or gone', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    for (let index = 0; index < 24; index += 1)
      await journal.append({ ...KEY, creationKey: `order-${index}` }, 0, intentEntry());
    const all = await readdir(root, { recursive: true });
    const folders = all.filter((name) => /^[0-9a-f]{2}.[0-9a-f]{64}$/.test(name));
    const hashes = folders.map((name) => basename(name)).sort();
    expect(hashes).toHaveLength(24);
    for (const [index, hash] of hashes.entries()) {
      expect((await journal.scan(hash, 100)).logs).toHaveLength(23 - index);
      const before = `${hash.slice(0, 2)}${'0'.repeat(62)}`;
      expect((await journal.scan(before, 100)).logs.length).toBeGreaterThanOrEqual(24 - index);
    }
    // Names that only look like it.
    await mkdir(join(root, `x${hashes[0]!.slice(0, 2)}`, 'a'.repeat(64)), { recursive: true });
    await mkdir(join(root, `${hashes[0]!.slice(0, 2)}x`, 'a'.repeat(64)), { recursive: true });
    await mkdir(join(root, hashes[0]!.slice(0, 2), `x${'a'.repeat(64)}`));
    expect((await journal.scan(null, 100)).logs).toHaveLength(24);
  });

  it('hints to intents only, and leaves no trace of a check', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.append(KEY, 0, fenceEntry());
    await journal.checkWritable();
    expect((await readdir(root)).sort()).toEqual([HASH.slice(0, 2), 'checks'].sort());
    expect(await readdir(join(root, 'checks'))).toEqual([]);
  });

  it('reads only the entries of a task, whatever lies beside them', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    const video = makeVideoTask({ taskId: 'video_1' });
    await journal.indexTask({ v: 1, ...KEY, sendAttempt: 0, workflowId: null, runId: null, video });
    const [entry] = (await readdir(join(root, 'tasks'), { recursive: true })).filter((name) =>
      name.endsWith('.json'),
    );
    const folderOfTask = dirname(join(root, 'tasks', entry!));
    await writeFile(join(folderOfTask, '.half.tmp'), '{');
    const other = { v: 1, ...KEY, video: makeVideoTask({ taskId: 'video_2' }) };
    await writeFile(join(folderOfTask, 'other.json'), JSON.stringify(other));
    // Listed, and removed before it is read.
    await symlink('removed meanwhile', join(folderOfTask, 'gone.json'));
    expect(await journal.findTask('video_1')).toHaveLength(1);
  });

  it('[C4.4a] keeps an answer also where its intent is lost, and takes that for no empty log', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    const answer = answerEntry(answers.created(0));
    expect(await journal.append(KEY, 1, answer)).toBe('won');
    await expect(journal.read(KEY)).rejects.toThrow('The journal has lost an earlier entry');
    expect((await journal.scan(null, 10)).logs).toEqual([[answer]]);
  });

  it('[C4.4a] reads no log of which an entry is missing, wherever it is, and appends nothing to it', async () => {
    for (const gone of [0, 1, 4]) {
      const root = await newRoot();
      const journal = createFileJournal({ root });
      for (let n = 0; n <= 5; n++) await journal.append(KEY, n, fenceEntry({ sender: `sender ${n}` }));
      await rm(join(root, HASH.slice(0, 2), HASH, `${gone}.entry`));
      await expect(journal.read(KEY)).rejects.toThrow(JournalRecordError);
      await expect(journal.append(KEY, gone + 1, fenceEntry())).rejects.toThrow(JournalRecordError);
    }
  });

  it('reads entries of its own names only', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.append(KEY, 0, intentEntry());
    for (const name of [
      '00.entry',
      '01.entry',
      '1.entry.bak',
      '1.entries',
      'x1.entry',
      '.1.entry',
      '-1.entry',
    ])
      await writeFile(join(root, HASH.slice(0, 2), HASH, name), '{');
    expect(await journal.read(KEY)).toEqual([intentEntry()]);
    expect((await journal.scan(null, 10)).logs).toEqual([[intentEntry()]]);
  });

  it('finds out with one look that a key is unused, and reads nothing', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    for (let n = 0; n <= 10; n++) await journal.append(KEY, n, intentEntry());
    const read = jest.spyOn(fs, 'readFileSync');
    const look = jest.spyOn(fs, 'readdirSync');
    expect(await journal.read({ ...KEY, creationKey: 'order-2' })).toEqual([]);
    expect([read, look].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
    expect(await journal.read(KEY)).toHaveLength(11);
    expect([read, look].map(({ mock }) => mock.calls.length)).toEqual([11, 2]);
  });

  it('never waits for a file system of several hosts on the event loop', async () => {
    const root = await newRoot();
    const look = jest.spyOn(fs, 'readdirSync');
    const read = jest.spyOn(fs, 'readFileSync');
    const shared = createFileJournal({ root, shared: true });
    await shared.append(KEY, 0, intentEntry());
    expect(await shared.read(KEY)).toEqual([intentEntry()]);
    expect([look, read].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    // On a disk of this host it is faster than to hand the work to threads.
    expect(await createFileJournal({ root }).read(KEY)).toEqual([intentEntry()]);
    expect([look, read].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  });

  it('[C4.4a] fails where it cannot look or write: nobody may take that for an empty log', async () => {
    const root = await newRoot();
    await mkdir(dirname(root), { recursive: true });
    await writeFile(root, 'a file where the journal should be');
    const journal = createFileJournal({ root });
    await expect(journal.read(KEY)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(journal.append(KEY, 0, intentEntry())).rejects.toThrow(/ENOTDIR|EEXIST/);
    await expect(journal.findTask('video_1')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(journal.findOpenByBody('same')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(journal.checkWritable()).rejects.toThrow(/EEXIST|ENOTDIR/);
    await expect(journal.identity()).rejects.toThrow(/ENOTDIR|EEXIST/);
  });

  it.each([
    ['link', 'EPERM', 'does not support hard links'],
    ['link', 'EISDIR', 'does not support hard links'],
    ['fsync', 'EINVAL', 'cannot make a file or folder survive a power failure'],
  ])(
    'says what a file system cannot do that answers %s with %s, and what to do',
    async (call, code, lacks) => {
      const refusal = Object.assign(new Error(code), { code, syscall: call });
      if (call === 'link') jest.spyOn(fs.promises, 'link').mockRejectedValue(refusal);
      else jest.spyOn(bareFiles, 'sync').mockRejectedValue(refusal);
      try {
        await expect(createFileJournal({ root: await newRoot() }).checkWritable()).rejects.toThrow(
          new RegExp(`The journal's file system .* ${lacks}.*\\(${call}: ${code}\\).*postgres`),
        );
      } finally {
        jest.restoreAllMocks();
      }
    },
  );
});
