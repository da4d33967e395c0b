import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFileJournal, JournalRecordError } from '../../src/journal';
import { hostId } from '../../src/journal/host-id';
import { slotIntent } from '../activities/slot-intent';
import { journalConformance } from './journal-conformance';

const KEY = { namespace: 'default', creationKey: 'order-1' };
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
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a journal in files', () => {
  journalConformance(async () => {
    const root = await newRoot();
    return () => createFileJournal({ root });
  });

  it('lays its records where the design says, for nobody else to read', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    expect(journal.kind).toBe('file');
    await journal.putSlot(KEY, 0, slotIntent());
    await journal.putSlot(KEY, 12, slotIntent());
    const place = join(root, HASH.slice(0, 2), HASH);
    expect((await readdir(place)).sort()).toEqual(['0.slot', '12.slot']);
    if (process.platform === 'win32') return;
    expect((await stat(join(place, '0.slot'))).mode & 0o777).toBe(0o600);
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
    await journal.putSlot(KEY, 0, slotIntent());
    const slot = join(root, HASH.slice(0, 2), HASH, '0.slot');
    await writeFile(slot, '{"v":1,');
    await expect(journal.read(KEY, 0)).rejects.toThrow(
      new JournalRecordError('The journal holds a slot that is no JSON; nothing is sent on its word.'),
    );
    await writeFile(slot, '{"v":2}');
    await expect(journal.read(KEY, 0)).rejects.toThrow(
      new JournalRecordError(
        'The journal holds a slot of an unknown version or shape; nothing is sent on its word.',
      ),
    );
    await expect(journal.scan(null, 10)).rejects.toThrow(JournalRecordError);
  });

  it('passes over a hint that it cannot read: only slots decide', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.putSlot(KEY, 0, slotIntent({ bodyHash: 'same' }));
    const hints = (await readdir(join(root, 'open'), { recursive: true })).filter((name) =>
      name.endsWith('.json'),
    );
    const hint = join(root, 'open', hints[0]!);
    await writeFile(join(dirname(hint), 'half.json'), '{');
    await writeFile(join(dirname(hint), 'note.txt'), await readFile(hint));
    expect(await journal.findOpenByBody('same')).toHaveLength(1);
  });

  it('lists only folders of keys, whatever else lies there', async () => {
    const root = await newRoot();
    const journal = createFileJournal({ root });
    await journal.putSlot(KEY, 0, slotIntent());
    await journal.checkWritable();
    await mkdir(join(root, HASH.slice(0, 2), `${HASH}.old`));
    await mkdir(join(root, 'lost+found'));
    await mkdir(join(root, '0ff'));
    expect((await journal.scan(null, 10)).keys).toHaveLength(1);
    expect(await journal.scan(HASH, 10)).toEqual({ keys: [], next: null });
    expect((await journal.scan('0'.repeat(64), 10)).keys).toHaveLength(1);
    expect((await journal.scan(null, 1)).next).toBe(HASH);
  });

  it('[C4.4a] fails where it cannot look or write: nobody may take that for an empty epoch', async () => {
    const root = await newRoot();
    await mkdir(dirname(root), { recursive: true });
    await writeFile(root, 'a file where the journal should be');
    const journal = createFileJournal({ root });
    await expect(journal.read(KEY, 0)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(journal.putSlot(KEY, 0, slotIntent())).rejects.toThrow(/ENOTDIR|EEXIST/);
    await expect(journal.findTask('video_1')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(journal.findOpenByBody('same')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(journal.checkWritable()).rejects.toThrow(/EEXIST|ENOTDIR/);
    await expect(journal.identity()).rejects.toThrow(/ENOTDIR|EEXIST/);
  });
});
