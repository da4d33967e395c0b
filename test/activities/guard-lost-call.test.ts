import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CreateJournal, type RecordedAnswer } from '../../src/domain/journal';
import { keepLostCalls, type LostCall } from '../../src/guard-lost-calls';
import { createFileJournal } from '../../src/journal/file-journal';
import { answers } from '../domain/create-answers';
import { RESUBMITTED, claimIntent } from './claim-intent';

const KEY = { namespace: 'default', creationKey: 'order-1' };

describe('a paid call that brought no answer, when its queue is bound to a journal', () => {
  let folder: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-guard-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const call: LostCall = {
    workflowId: 'wf',
    runId: 'lost',
    ancestors: [],
    activityId: '7',
    creationKey: KEY.creationKey,
    sendAttempt: 0,
    attemptAt: new Date(0).toISOString(),
    operation: 'create_video',
    model: 'cine-1',
  };
  const refused: RecordedAnswer = {
    outcome: 'rejected',
    reason: 'credentials',
    message: 'no',
    sendAttempt: 0,
    sent: true,
    account: 'default@00000000',
    estimate: null,
  };
  /** Whether it was written. */
  const guard = async (lost = call): Promise<boolean> => {
    const held = async () => JSON.stringify([await journal.read(KEY, 0), await journal.read(KEY, 1)]);
    const before = await held();
    await keepLostCalls(journal, KEY.namespace, [lost]);
    return (await held()) !== before;
  };

  it('[C4.4c] stands in it beyond refusals over which it may have gone on, once', async () => {
    await journal.putClaim(KEY, 0, { ...KEY, ...claimIntent({ runId: 'before', nonce: 'n' }) });
    await journal.putOutcome(KEY, 0, { v: 1, nonce: 'n', at: '', answer: refused });
    expect(await guard()).toBe(true);
    expect((await journal.read(KEY, 1)).outcome?.answer).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
    });
    expect(await guard()).toBe(false);
  });

  it('[C4.4c] stands in it beyond a refusal of another request, which it may have corrected', async () => {
    await journal.putClaim(KEY, 0, { ...KEY, ...claimIntent({ runId: 'before', nonce: 'n' }) });
    const answer = { ...refused, reason: 'invalid_request' } as const;
    await journal.putOutcome(KEY, 0, { v: 1, nonce: 'n', at: '', answer });
    expect(await guard()).toBe(true);
    expect((await journal.read(KEY, 1)).outcome?.answer).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
    });
  });

  it('[C4.4c] stands in it beyond its own refusal where it is an image, which is sent again by itself', async () => {
    await journal.putClaim(KEY, 0, {
      ...KEY,
      ...claimIntent({ runId: 'lost', activityId: '7', nonce: 'n' }),
    });
    await journal.putOutcome(KEY, 0, { v: 1, nonce: 'n', at: '', answer: refused });
    expect(await guard()).toBe(false);
    expect(await guard({ ...call, operation: 'generate_image' })).toBe(true);
  });

  it('[C4.4c] stands in it beyond another that a person has sent again', async () => {
    expect(await guard()).toBe(true);
    await journal.putResolution(KEY, 0, RESUBMITTED);
    // The journal is set back to here after the send that this has allowed.
    await keepLostCalls(journal, KEY.namespace, [{ ...call, runId: 'later', sendAttempt: 1 }]);
    expect((await journal.read(KEY, 1)).outcome?.answer).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
    });
    // What was decided is not asked again.
    expect(await guard()).toBe(false);
  });

  it('is known where its own intent stands', async () => {
    await journal.putClaim(KEY, 0, { ...KEY, ...claimIntent({ runId: 'lost', activityId: '7' }) });
    expect(await guard()).toBe(false);
  });

  it('is known where a fence has shut it out', async () => {
    await journal.putClaim(KEY, 0, { v: 1, kind: 'fence', nonce: 'f', at: new Date(0).toISOString() });
    expect(await guard()).toBe(false);
  });

  it('[C4.4c] stands in it beyond a send of somebody else that stands open here: that may have been refused since', async () => {
    await journal.putClaim(KEY, 0, { ...KEY, ...claimIntent({ runId: 'another' }) });
    expect(await guard()).toBe(true);
    expect((await journal.read(KEY, 1)).outcome?.answer).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 1,
    });
  });

  it('is known where a purchase was in its way', async () => {
    await journal.putClaim(KEY, 0, { ...KEY, ...claimIntent({ runId: 'another', nonce: 'n' }) });
    await journal.putOutcome(KEY, 0, { v: 1, nonce: 'n', at: '', answer: answers.created(0) });
    expect(await guard()).toBe(false);
  });
});
