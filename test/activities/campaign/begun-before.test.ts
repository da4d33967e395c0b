import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { begunBefore } from '../../../src/activities/campaign/open-page';
import { type CampaignRow } from '../../../src/domain/campaign/row';
import { createFileJournal } from '../../../src/journal/file-journal';
import { createdVideo } from '../created-video';
import { slotIntent } from '../slot-intent';

const ROW: CampaignRow = {
  row: 0,
  line: 1,
  key: 'kite',
  content: 'c'.repeat(64),
  call: { operation: 'create_video', request: { model: 'm', prompt: 'a kite', durationSeconds: 2 } },
  estimate: 1,
  attempt: 0,
};

describe('what the journal knows of a row', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'begun-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const key = (attempt: number) => ({ namespace: 'n', creationKey: `media-row/spring/kite/${attempt}` });

  it('is nothing for a row that nobody began', async () => {
    await expect(begunBefore(createFileJournal({ root }), 'n', 'spring', ROW)).resolves.toEqual({
      begun: {},
    });
  });

  it('[C4.4a] names the last attempt, so that an earlier one which was refused is not sent again', async () => {
    const journal = createFileJournal({ root });
    await journal.putSlot(key(0), 0, slotIntent());
    const refused = { outcome: 'not_sent', epoch: 0, sent: false, account: 'a', estimate: null } as const;
    const answer = { ...refused, cause: 'connection', epochUsed: true, permanent: false, message: 'No.' };
    await journal.putOutcome(key(0), 0, {
      v: 1,
      nonce: 'ours',
      at: new Date(0).toISOString(),
      answer,
    });
    const since = '2026-01-01T00:00:00.000Z';
    await journal.putSlot(key(1), 0, slotIntent({ at: since, payer: 'spring/batch/3' }));
    const begun = { begun: 1, since };
    await expect(begunBefore(journal, 'n', 'spring', ROW)).resolves.toEqual({
      begun: { ...begun, bought: 1 },
    });
    const was = {
      outcome: 'unconfirmed' as const,
      ledger: [
        {
          attempt: 1,
          creationKey: 'media-row/spring/kite/1',
          taskId: null,
          estimate: 1,
          state: 'reserved' as const,
        },
      ],
    };
    await expect(begunBefore(journal, 'n', 'spring', { ...ROW, was })).resolves.toEqual({ begun });
  });

  it('has the video of a row whose only create was accepted', async () => {
    const journal = createFileJournal({ root });
    const slot = slotIntent();
    const answer = createdVideo('video_1');
    await journal.putSlot(key(0), 0, slot);
    await journal.putOutcome(key(0), 0, { v: 1, nonce: slot.nonce, at: '', answer });
    const created = async () => (await begunBefore(journal, 'n', 'spring', ROW)).created;
    await expect(created()).resolves.toMatchObject({ video: { ...answer, sent: false }, slot });
    // Another attempt was begun since: which of them is the row's video is asked one by one.
    await journal.putSlot(key(1), 0, slotIntent());
    await expect(created()).resolves.toBeUndefined();
  });

  it('leaves to a look-up what somebody has decided about, and what was sent twice', async () => {
    const journal = createFileJournal({ root });
    await journal.putSlot(key(0), 0, slotIntent());
    await expect(begunBefore(journal, 'n', 'spring', ROW)).resolves.not.toHaveProperty('created');
    await journal.putSlot(key(0), 1, slotIntent());
    await expect(begunBefore(journal, 'n', 'spring', ROW)).resolves.not.toHaveProperty('created');
  });
});
