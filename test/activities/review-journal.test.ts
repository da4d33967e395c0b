import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createReviewJournal } from '../../src/activities/unconfirmed-calls';
import { type CreateJournal, NO_JOURNAL } from '../../src/domain/journal';
import { type IntentEntry, type LogEntry } from '../../src/domain/log-entries';
import { type ReviewJournalInput, type ReviewJournalPage } from '../../src/domain/unconfirmed-decision';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { answerEntry, decisionEntry, fenceEntry, intentEntry, lostEntry } from '../support/log-entries';

const SECOND = 1000;

describe('a page of what the journal holds', () => {
  let root: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-review-'));
    journal = createFileJournal({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const review = (input: ReviewJournalInput, store: CreateJournal = journal): Promise<ReviewJournalPage> =>
    new MockActivityEnvironment({ workflowNamespace: 'default' }).run(
      createReviewJournal({ journal: store }),
      input,
    );

  async function write(creationKey: string, entry: LogEntry, namespace = 'default'): Promise<void> {
    const key = { namespace, creationKey };
    await journal.append(key, (await journal.read(key)).length, entry);
  }
  async function sent(creationKey: string, own: Partial<IntentEntry> = {}): Promise<void> {
    const namespace = own.namespace ?? 'default';
    await write(creationKey, intentEntry({ namespace, creationKey, ...own }), namespace);
  }
  const keysOf = ({ unconfirmed }: ReviewJournalPage) => unconfirmed.map(({ creationKey }) => creationKey);

  it('names what is open in this namespace only, and since when it is asked for', async () => {
    await sent('early', { at: new Date(0).toISOString() });
    await sent('at that time', { at: new Date(10 * SECOND).toISOString() });
    await sent('late', { at: new Date(20 * SECOND).toISOString() });
    await sent('foreign', { namespace: 'elsewhere', at: new Date(20 * SECOND).toISOString() });
    expect(keysOf(await review({ list: 'unconfirmed' })).sort()).toEqual(['at that time', 'early', 'late']);
    const since = new Date(10 * SECOND).toISOString();
    expect(keysOf(await review({ list: 'unconfirmed', since })).sort()).toEqual(['at that time', 'late']);
    expect(keysOf(await review({ list: 'unconfirmed', creationKey: 'foreign' }))).toEqual([]);
  });

  it('goes on after the page before, and names nothing twice', async () => {
    // Two looks of 100 keys fill one page of 200 entries.
    const names = Array.from({ length: 230 }, (_, index) => `key-${index}`);
    for (const name of names) await sent(name);
    const first = await review({ list: 'unconfirmed' });
    expect(first.scanned).toBe(200);
    const second = await review({ list: 'unconfirmed', after: first.next });
    expect(second).toMatchObject({ scanned: 30, next: null });
    expect([...keysOf(first), ...keysOf(second)].sort()).toEqual([...names].sort());
  });

  it('tells a sender that may be alive, a lost reply, lost results, and what is decided apart', async () => {
    await sent('in flight', { sendWindowEnd: new Date(Date.now() + 60 * SECOND).toISOString() });
    await sent('unconfirmed');
    await sent('lost', { operation: 'generate_image' });
    const base = { sendAttempt: 0, sent: true, account: null, estimate: null, images: [], created: null };
    const lost = { ...base, outcome: 'results_lost', reason: 'storage', message: 'lost' } as const;
    await write('lost', answerEntry(lost));
    await sent('adopted');
    await write('adopted', answerEntry(answers.unconfirmed(0)));
    await write('adopted', decisionEntry({ decision: 'adopt', answer: answers.created(0) }));
    await write('unseen', lostEntry({ creationKey: 'unseen' }));
    const { unconfirmed } = await review({ list: 'unconfirmed' });
    const states = unconfirmed.map(({ creationKey, state }) => [creationKey, state]);
    expect(Object.fromEntries(states)).toEqual({
      'in flight': 'in_flight',
      unconfirmed: 'unconfirmed',
      lost: 'results_lost',
      unseen: 'unconfirmed',
    });
    const { taskId } = answers.created(0).video;
    expect((await review({ list: 'created' })).created).toMatchObject([{ creationKey: 'adopted', taskId }]);
    expect((await review({ list: 'decided' })).decided).toMatchObject([{ creationKey: 'adopted', taskId }]);
  });

  it('names each send once its fate is unknown, and none that was decided, refused or bought', async () => {
    for (const creationKey of ['bought', 'refused', 'decided', 'fenced', 'recorded']) await sent(creationKey);
    await write('bought', answerEntry(answers.created(0)));
    await write('refused', answerEntry(answers.refused(0)));
    await write('decided', answerEntry(answers.unconfirmed(0)));
    await write('decided', decisionEntry());
    await write('fenced', fenceEntry({ sender: 'another' }));
    await write('recorded', answerEntry(answers.unconfirmed(0)));
    await write('recorded', decisionEntry());
    await sent('recorded', { nonce: 'second' });
    await write('recorded', answerEntry(answers.unconfirmed(1), { nonce: 'second' }));
    const { unconfirmed } = await review({ list: 'unconfirmed' });
    const open = unconfirmed.map(({ creationKey, sendAttempt }) => `${creationKey} ${sendAttempt}`);
    expect(open.sort()).toEqual(['fenced 0', 'recorded 1']);
    expect((await review({ list: 'unconfirmed', creationKey: 'decided' })).unconfirmed).toEqual([]);
    const { decided } = await review({ list: 'decided', creationKey: 'recorded' });
    expect(decided).toMatchObject([{ sendAttempt: 0, sendId: 'ours', decision: 'resubmit' }]);
  });

  it('says at once that a record is unreadable: no retry reads it', async () => {
    await sent('broken');
    const files = await readdir(root, { recursive: true });
    await writeFile(join(root, files.find((name) => name.endsWith('0.entry')) ?? ''), '{}');
    await expect(review({ list: 'unconfirmed' })).rejects.toMatchObject({
      type: 'MediaJournalUnavailable',
      nonRetryable: true,
      message: expect.stringContaining('contains a log entry of an unknown version') as string,
    });
    const away = { ...journal, scan: () => Promise.reject(new Error('the disk is away')) };
    await expect(review({ list: 'unconfirmed' }, away)).rejects.toMatchObject({ nonRetryable: false });
  });

  it('is empty without a journal', async () => {
    expect(await review({ list: 'unconfirmed' }, NO_JOURNAL)).toMatchObject({ unconfirmed: [], next: null });
  });
});
