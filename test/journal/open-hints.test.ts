import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJournal } from '../../src/journal/create-journal';
import { createFileRecords } from '../../src/journal/file-records';
import { openName } from '../../src/journal/record-names';
import { type RecordStore } from '../../src/journal/record-store';
import { claimIntent } from '../activities/claim-intent';

const KEY = { namespace: 'default', creationKey: 'order-1' };

/** While the same request is unconfirmed under another key, nothing is sent: that depends on the hint of that call. */
describe('the hint of a call that may be open', () => {
  let root: string;
  let records: RecordStore;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-hints-'));
    records = createFileRecords({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('[C4.4a] is there before the claim, or there is no claim', async () => {
    const failing = createJournal({ ...records, note: () => Promise.reject(new Error('no connection')) });
    await expect(failing.putClaim(KEY, 0, claimIntent())).rejects.toThrow('no connection');
    expect((await createJournal(records).read(KEY, 0)).claim).toBeNull();
  });

  it('[C4.4a] that cannot be read is not taken for none', async () => {
    await createJournal(records).putClaim(KEY, 0, claimIntent({ bodyHash: 'same' }));
    const failing = createJournal({ ...records, read: () => Promise.reject(new Error('no connection')) });
    await expect(failing.findOpenByBody('same')).rejects.toThrow('no connection');
  });

  it('is found however many there are of one body', async () => {
    const places = Array.from({ length: 1_001 }, (_, n) => ({
      ...KEY,
      creationKey: `order-${n}`,
      sendAttempt: 0,
    }));
    for (const place of places)
      await records.note(openName(place, 'same'), JSON.stringify({ v: 1, ...place }));
    expect(await createJournal(records).findOpenByBody('same')).toHaveLength(1_001);
  });
});
