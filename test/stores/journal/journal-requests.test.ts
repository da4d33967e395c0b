import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateJournal } from '../../../src/domain/journal';
import { createJournal } from '../../../src/stores/journal/create-journal';
import { createFileRecords } from '../../../src/stores/journal/file-journal';
import { type RecordStore } from '../../../src/stores/journal/record-store';
import { answers } from '../../domain/create-answers';
import { answerEntry, fenceEntry, intentEntry, LOG_KEY as KEY } from '../../support/log-entries';

/** In a bucket and in a database each of these calls is one request, and a create waits for all but the last. */
describe('what a create asks of the store of the journal', () => {
  let root: string;
  let calls: string[];
  let journal: CreateJournal;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-requests-'));
    calls = [];
    const records = createFileRecords({ root });
    const counted =
      <Args extends readonly unknown[], End>(name: string, run: (...args: Args) => End) =>
      (...args: Args): End => {
        calls.push(args[1] === null ? `${name} null` : name);
        return run(...args);
      };
    const store: RecordStore = {
      ...records,
      read: counted('read', (name: string) => records.read(name)),
      readAll: counted('readAll', (prefix: string) => records.readAll(prefix)),
      names: counted('names', (...args: Parameters<RecordStore['names']>) => records.names(...args)),
      create: counted('create', (name: string, text: string) => records.create(name, text)),
      note: counted('note', (name: string, text: string | null) => records.note(name, text)),
    };
    journal = createJournal(store);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('is one look, two durable records, and a hint that comes and goes', async () => {
    const intent = intentEntry();
    await journal.read(KEY);
    await journal.append(KEY, 0, intent);
    await journal.append(KEY, 1, answerEntry(answers.created(0)));
    await journal.forgetOpen({ ...KEY, n: 0 }, intent.bodyHash);
    expect(calls).toEqual(['readAll', 'note', 'create', 'create', 'note null']);
  });

  it('is a look and a record where a sender is excluded, and a look where it is known', async () => {
    await journal.read(KEY);
    await journal.append(KEY, 0, fenceEntry());
    expect(calls.splice(0)).toEqual(['readAll', 'create']);
    await journal.read(KEY);
    expect(calls).toEqual(['readAll']);
  });

  it('looks twice more before and after a later intent: the entries before it may be removed meanwhile', async () => {
    await journal.append(KEY, 0, intentEntry());
    await journal.append(KEY, 1, answerEntry(answers.rejected(0, 'credentials')));
    calls.length = 0;
    await journal.append(KEY, 2, intentEntry({ nonce: 'next' }));
    expect(calls).toEqual(['read', 'read', 'note', 'create', 'read', 'read']);
  });
});
