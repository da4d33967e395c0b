import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJournal } from '../../../src/stores/journal/create-journal';
import { createFileRecords } from '../../../src/stores/journal/file-journal';
import { type RecordStore } from '../../../src/stores/journal/record-store';
import { openName } from '../../../src/stores/journal/records';
import { answers } from '../../domain/create-answers';
import { answerEntry, intentEntry, LOG_KEY as KEY } from '../../support/log-entries';

/** While the same request is unconfirmed under another key, nothing is sent: that depends on the hint of that call. */
describe('the hint of a call that may be open', () => {
  let root: string;
  let records: RecordStore;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-hints-'));
    records = createFileRecords({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('[C4.4a] is there before the intent, or there is no intent', async () => {
    const failing = createJournal({ ...records, note: () => Promise.reject(new Error('no connection')) });
    await expect(failing.append(KEY, 0, intentEntry())).rejects.toThrow('no connection');
    expect(await createJournal(records).read(KEY)).toEqual([]);
  });

  it('[C4.4a] that cannot be read is not taken for none', async () => {
    await createJournal(records).append(KEY, 0, intentEntry({ bodyHash: 'same' }));
    const failing = createJournal({ ...records, read: () => Promise.reject(new Error('no connection')) });
    await expect(failing.findOpenByBody('same')).rejects.toThrow('no connection');
  });

  it('[C4.4a] of a later intent is not taken away with that of an earlier one of its key', async () => {
    const journal = createJournal(records);
    await journal.append(KEY, 0, intentEntry({ bodyHash: 'same' }));
    await journal.append(KEY, 1, answerEntry(answers.rejected(0, 'credentials')));
    // The next sender has read the refusal, and has left its hint; the first one tidies up only now.
    const slow = createJournal({
      ...records,
      create: async (name, text) => {
        await journal.forgetOpen({ ...KEY, n: 0 }, 'same');
        return records.create(name, text);
      },
    });
    expect(await slow.append(KEY, 2, intentEntry({ bodyHash: 'same', nonce: 'next' }))).toBe('won');
    expect(await journal.findOpenByBody('same')).toEqual([{ ...KEY, n: 2 }]);
  });

  it('is found however many there are of one body', async () => {
    const places = Array.from({ length: 1_001 }, (_, index) => ({
      ...KEY,
      creationKey: `order-${index}`,
      n: 0,
    }));
    for (const place of places)
      await records.note(openName(place, 'same'), JSON.stringify({ v: 1, ...place }));
    expect(await createJournal(records).findOpenByBody('same')).toHaveLength(1_001);
  });
});
