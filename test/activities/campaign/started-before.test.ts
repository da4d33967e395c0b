import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startedBefore } from '../../../src/activities/campaign/open-page';
import { type CampaignRow } from '../../../src/domain/campaign/row';
import { createFileJournal } from '../../../src/stores/journal/file-journal';
import { answers } from '../../domain/create-answers';
import { answerEntry, decisionEntry, intentEntry } from '../../support/log-entries';
import { createdVideo } from '../created-video';

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
    root = await mkdtemp(join(tmpdir(), 'started-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const key = (attempt: number) => ({ namespace: 'n', creationKey: `media-row/spring/kite/${attempt}` });

  it('is nothing for a row that nobody began', async () => {
    await expect(startedBefore(createFileJournal({ root }), 'n', 'spring', ROW)).resolves.toEqual({
      started: {},
    });
  });

  it('[C4.4a] names the last attempt, so that an earlier one which was refused is not sent again', async () => {
    const journal = createFileJournal({ root });
    await journal.append(key(0), 0, intentEntry());
    await journal.append(key(0), 1, answerEntry(answers.notSent(0)));
    const since = '2026-01-01T00:00:00.000Z';
    await journal.append(key(1), 0, intentEntry({ at: since, payer: 'spring/batch/3' }));
    const started = { started: 1, since };
    await expect(startedBefore(journal, 'n', 'spring', ROW)).resolves.toEqual({
      started: { ...started, bought: 1 },
    });
    const was = {
      outcome: 'unconfirmed' as const,
      ledger: [
        {
          attempt: 1,
          creationKey: 'media-row/spring/kite/1',
          taskId: null,
          outcome: 'still_running' as const,
          estimate: 1,
          actual: null,
          state: 'reserved' as const,
        },
      ],
    };
    await expect(startedBefore(journal, 'n', 'spring', { ...ROW, was })).resolves.toEqual({ started });
  });

  it('has the video of a row whose only create was accepted', async () => {
    const journal = createFileJournal({ root });
    const intent = intentEntry();
    const answer = createdVideo('video_1');
    await journal.append(key(0), 0, intent);
    await journal.append(key(0), 1, answerEntry(answer));
    const created = async () => (await startedBefore(journal, 'n', 'spring', ROW)).created;
    await expect(created()).resolves.toMatchObject({ video: { ...answer, sent: false }, intent });
    // Another attempt was started since: which of them is the row's video is asked one by one.
    await journal.append(key(1), 0, intentEntry());
    await expect(created()).resolves.toBeUndefined();
  });

  it('leaves to a look-up what somebody has decided about, and what was sent twice', async () => {
    const journal = createFileJournal({ root });
    const isLeft = () =>
      expect(startedBefore(journal, 'n', 'spring', ROW)).resolves.not.toHaveProperty('created');
    await journal.append(key(0), 0, intentEntry());
    await isLeft();
    await journal.append(key(0), 1, answerEntry(answers.unconfirmed(0)));
    await journal.append(key(0), 2, decisionEntry());
    await isLeft();
    // It was accepted after all.
    await journal.append(key(0), 3, answerEntry(createdVideo('video_1')));
    await isLeft();
    await journal.append(key(1), 0, intentEntry({ nonce: 'first' }));
    await journal.append(key(1), 1, answerEntry(answers.refused(0), { nonce: 'first' }));
    await journal.append(key(1), 2, intentEntry());
    await journal.append(key(1), 3, answerEntry(createdVideo('video_2')));
    const twice = { ...ROW, attempt: 1 };
    await expect(startedBefore(journal, 'n', 'spring', twice)).resolves.not.toHaveProperty('created');
  });
});
