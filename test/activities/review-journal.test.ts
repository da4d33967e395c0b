import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createReviewJournal } from '../../src/activities/review-journal';
import { type CreateJournal, type ClaimIntent } from '../../src/domain/journal';
import { type ReviewJournalInput, type ReviewJournalPage } from '../../src/domain/unconfirmed-decision';
import { createFileJournal } from '../../src/journal/file-journal';
import { answers } from '../domain/create-answers';
import { claimIntent } from './claim-intent';

const SECOND = 1000;

describe('a page of what the journal holds', () => {
  let root: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-review-'));
    journal = createFileJournal({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const review = (
    input: ReviewJournalInput,
    store: CreateJournal | 'none' = journal,
  ): Promise<ReviewJournalPage> =>
    new MockActivityEnvironment({ workflowNamespace: 'default' }).run(
      createReviewJournal({ journal: store }),
      input,
    );

  async function sent(creationKey: string, own: Partial<ClaimIntent> = {}): Promise<void> {
    const key = { namespace: own.namespace ?? 'default', creationKey };
    await journal.putClaim(key, 0, claimIntent({ ...key, ...own }));
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
    const at = new Date(0).toISOString();
    const lostKey = { namespace: 'default', creationKey: 'lost' };
    await journal.putOutcome(lostKey, 0, { v: 1, nonce: 'n', at, answer: lost });
    await sent('adopted');
    const adoptedKey = { namespace: 'default', creationKey: 'adopted' };
    const made = { v: 1, by: 'ada', reason: 'console', at, decision: 'adopt' } as const;
    await journal.putResolution(adoptedKey, 0, { ...made, answer: answers.created(0) });
    const { unconfirmed } = await review({ list: 'unconfirmed' });
    const states = unconfirmed.map(({ creationKey, state }) => [creationKey, state]);
    expect(Object.fromEntries(states)).toEqual({
      'in flight': 'in_flight',
      unconfirmed: 'unconfirmed',
      lost: 'results_lost',
    });
    const { taskId } = answers.created(0).video;
    expect((await review({ list: 'created' })).created).toMatchObject([{ creationKey: 'adopted', taskId }]);
    expect((await review({ list: 'decided' })).decided).toMatchObject([{ creationKey: 'adopted', taskId }]);
  });

  it('names no call that somebody went past, but one beyond which only a fence stands', async () => {
    const at = new Date(0).toISOString();
    for (const creationKey of ['passed', 'fenced', 'recorded']) await sent(creationKey);
    const next = (creationKey: string) => ({ namespace: 'default', creationKey });
    await journal.putClaim(next('passed'), 1, claimIntent(next('passed')));
    await journal.putOutcome(next('passed'), 1, { v: 1, nonce: 'n', at, answer: answers.created(1) });
    await journal.putClaim(next('fenced'), 1, { v: 1, kind: 'fence', nonce: 'f', at });
    await journal.putOutcome(next('recorded'), 0, { v: 1, nonce: 'n', at, answer: answers.unconfirmed(0) });
    await journal.putClaim(next('recorded'), 1, claimIntent(next('recorded')));
    const { unconfirmed } = await review({ list: 'unconfirmed' });
    const open = unconfirmed.map(({ creationKey, sendAttempt }) => `${creationKey} ${sendAttempt}`);
    expect(open.sort()).toEqual(['fenced 0', 'recorded 0', 'recorded 1']);
    expect((await review({ list: 'unconfirmed', creationKey: 'passed' })).unconfirmed).toEqual([]);
  });

  it('says at once that a record is unreadable: no retry reads it', async () => {
    await sent('broken');
    const [folder] = (await readdir(root)).filter((name) => /^[0-9a-f]{2}$/.test(name));
    const [hash] = await readdir(join(root, folder ?? ''));
    await writeFile(join(root, folder ?? '', hash ?? '', '0.claim'), '{}');
    await expect(review({ list: 'unconfirmed' })).rejects.toMatchObject({
      type: 'MediaJournalUnavailable',
      nonRetryable: true,
      message: expect.stringContaining('holds a claim of an unknown version') as string,
    });
    const away = { ...journal, scan: () => Promise.reject(new Error('the disk is away')) };
    await expect(review({ list: 'unconfirmed' }, away)).rejects.toMatchObject({ nonRetryable: false });
  });

  it('is empty without a journal', async () => {
    expect(await review({ list: 'unconfirmed' }, 'none')).toMatchObject({ unconfirmed: [], next: null });
  });
});
