import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { type PaidDeps } from '../../src/activities/paid-context';
import { createReconcileCreate } from '../../src/activities/reconcile-create';
import { type CreateJournal, type RecordedAnswer, type ClaimIntent } from '../../src/domain/journal';
import { type CreateVideoAnswer, evidence, type ReconcileCreateInput } from '../../src/domain/paid-call';
import { PERHAPS } from '../../src/domain/journal-proof';
import { createFileJournal } from '../../src/journal/file-journal';
import { makeVideoTask } from '../domain/make-video-task';
import { claimIntent } from './claim-intent';
import { UNHEARD } from '../support/standing';
import { paidDeps } from './paid-deps';

const KEY = { namespace: 'default', creationKey: 'order-1' };

describe('media.reconcileCreate', () => {
  let folder: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-reconcile-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const intent = (runId: string, sendWindowEnd: number): ClaimIntent =>
    claimIntent({ nonce: runId, runId, sendWindowEnd: new Date(sendWindowEnd).toISOString() });
  const base = { sent: true, account: 'default@00000000', estimate: null };
  const refused: RecordedAnswer = {
    ...base,
    sendAttempt: 0,
    outcome: 'rejected',
    reason: 'credentials',
    message: 'no',
  };
  const created: RecordedAnswer = {
    ...base,
    sendAttempt: 1,
    outcome: 'created',
    status: 'queued',
    warnings: [],
    video: makeVideoTask({ taskId: 'video_1' }),
  };

  async function record(
    sendAttempt: number,
    runId: string,
    answer?: RecordedAnswer,
    windowEnd = 0,
  ): Promise<void> {
    await journal.putClaim(KEY, sendAttempt, intent(runId, windowEnd));
    if (answer !== undefined)
      await journal.putOutcome(KEY, sendAttempt, { v: 1, nonce: runId, at: '', answer });
  }

  function reconcile(
    runId: string,
    input: Partial<ReconcileCreateInput> = {},
    store = journal,
    taskRecords?: PaidDeps['taskRecords'],
  ): Promise<CreateVideoAnswer> {
    const deps: PaidDeps = { ...paidDeps(folder, store), taskRecords };
    const env = new MockActivityEnvironment({
      workflowExecution: { workflowId: 'wf', runId },
      currentAttemptScheduledTimestampMs: Date.now(),
    });
    return env.run(createReconcileCreate(deps), {
      creationKey: KEY.creationKey,
      sendAttempt: 0,
      ...UNHEARD,
      ...input,
    });
  }

  it('[C4.4c] a send of a journal that was lost is not looked for in records: no task could be told to be it', async () => {
    await journal.putClaim(KEY, 0, { ...intent('first', 0), bodyHash: '' });
    const find = jest.fn(async () => ({ found: 'none' }) as const);
    const answer = await reconcile('first', { policy: { onAbsent: 'resend' } }, journal, {
      longestRequestMs: 1000,
      find,
    });
    expect(answer).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 0 });
    expect(find).not.toHaveBeenCalled();
  });

  it('[C4.4c] what stands in for a lost send is of every run of its key: nobody can tell whose it was', async () => {
    await journal.putClaim(KEY, 0, { ...intent('first', 0), bodyHash: '', fingerprint: null });
    const lost = {
      ...base,
      outcome: 'unconfirmed',
      sendAttempt: 0,
      evidence: evidence('journal_changed', {}),
    } as const;
    await journal.putOutcome(KEY, 0, { v: 1, nonce: 'first', at: '', answer: lost });
    expect(await reconcile('later')).toMatchObject({ ...lost, sent: true });
    expect((await journal.read(KEY, 1)).claim).toBeNull();
  });

  it('[C4.4c] a worker that was lost, and whose last word left open whether it sent, is no other journal', async () => {
    const lastHeartbeat = { journalId: 'the-journal', intent: PERHAPS };
    const senders = { ...UNHEARD.senders, lastHeartbeat };
    expect(await reconcile('first', { senders })).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { cause: 'worker_lost' },
      sendAttempt: 0,
    });
  });

  const ELSEWHERE = {
    lastHeartbeat: { journalId: 'another', intent: 'its own' },
    scheduledAt: UNHEARD.senders.scheduledAt,
  };
  it.each([
    ['a refusal of another run', { ...refused, reason: 'invalid_request' } as const],
    ['another run whose fate is unknown', undefined],
  ])('[C4.4c] a send that another journal knew is not called unsent because of %s', async (_, answer) => {
    await record(0, 'first', answer);
    const told = { outcome: 'unconfirmed', evidence: { cause: 'journal_changed' }, sendAttempt: 1 };
    for (const fingerprint of [undefined, 'another'])
      expect(
        await reconcile('later', { senders: ELSEWHERE, ...(fingerprint !== undefined && { fingerprint }) }),
      ).toMatchObject(told);
  });

  it('[C4.4c] beside a purchase of another run the create compares the requests, whatever journal it was sent with', async () => {
    await record(0, 'first', { ...created, sendAttempt: 0 });
    const told = { outcome: 'not_sent', cause: 'recorded_by_another_run', sendAttempt: 0 };
    expect(await reconcile('later', { senders: ELSEWHERE })).toMatchObject(told);
  });

  it('[C4.4a] looks where its run was allowed to send: beyond the refusal that an earlier run recorded', async () => {
    await record(0, 'first', refused);
    await record(1, 'later', created);
    expect(await reconcile('later')).toMatchObject({ outcome: 'created', sendAttempt: 1 });
  });

  it('[C4.4c] a sender that died beyond an earlier refusal leaves the create unconfirmed, not rejected', async () => {
    await record(0, 'first', refused);
    await record(1, 'later', undefined, Date.now() - 1);
    expect(await reconcile('later')).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
  });

  it('[C4.4c] a sender whose clock was ahead is followed: it went on although our clock says too early', async () => {
    await record(0, 'first', { ...refused, notBefore: new Date(Date.now() + 60_000).toISOString() });
    await record(1, 'later', undefined, Date.now() - 1);
    expect(await reconcile('later')).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
  });

  const LATER = new Date(Date.now() + 60_000).toISOString();
  it.each([
    ['a refusal of another run that is not over', { ...refused, notBefore: LATER }, 0],
    ['another run that sends just now', undefined, Date.now() + 60_000],
    ['another run whose fate is unknown', undefined, 0],
  ])('[C7.10] shuts its own lost create out beyond %s', async (_, answer, windowEnd) => {
    await record(0, 'first', answer, windowEnd);
    const told = {
      outcome: 'not_sent',
      cause: 'recorded_by_another_run',
      sendAttempt: 0,
      sendAttemptUsed: false,
    };
    expect(await reconcile('later')).toMatchObject(told);
    expect((await journal.read(KEY, 1)).claim?.kind).toBe('fence');
    // One is enough, and it moves nobody on before the time.
    expect(await reconcile('later')).toMatchObject(told);
    expect((await journal.read(KEY, 2)).claim).toBeNull();
  });

  it('[C7.10] needs no fence where no create of its run can be on its way, or can ever go on', async () => {
    await record(0, 'first', { ...refused, notBefore: LATER });
    await reconcile('first');
    await reconcile('later', { fingerprint: claimIntent().fingerprint });
    expect((await journal.read(KEY, 1)).claim).toBeNull();
  });

  it('[C7.10] needs no fence beyond what is final', async () => {
    await record(0, 'first', { ...created, sendAttempt: 0 });
    await reconcile('later');
    expect((await journal.read(KEY, 1)).claim).toBeNull();
  });

  it('[C7.10] stands beyond what another run has started, and is found there', async () => {
    await record(0, 'first', {
      ...base,
      sendAttempt: 0,
      outcome: 'unconfirmed',
      evidence: evidence('reset'),
    });
    const given = { decision: 'declareLost', by: 'me', reason: 'yes', at: '' } as const;
    const answer = { ...refused, reason: 'declared_lost' } as const;
    await journal.putResolution(KEY, 0, { v: 1, ...given, answer });
    await record(1, 'another');
    for (const _ of ['once', 'again'])
      expect(await reconcile('later')).toMatchObject({
        outcome: 'not_sent',
        cause: 'recorded_by_another_run',
      });
    expect((await journal.read(KEY, 2)).claim).toMatchObject({ kind: 'fence' });
    expect((await journal.read(KEY, 3)).claim).toBeNull();
  });

  it('[C7.10] looks again where a sender took the place of that fence', async () => {
    await record(0, 'first', { ...refused, notBefore: LATER });
    const read = journal.read.bind(journal);
    const stale = { ...journal, read: (key: typeof KEY, at: number) => read(key, at === 1 ? 5 : at) };
    await record(1, 'later');
    const failure = await reconcile('later', {}, stale).catch((error: unknown) => error);
    expect(failure).toMatchObject({ nonRetryable: false, details: [{ class: 'claim_taken' }] });
  });

  it('says that the journal is down where it cannot shut it out', async () => {
    await record(0, 'first', { ...refused, notBefore: LATER });
    let reads = 0;
    const fails = (key: typeof KEY, at: number): ReturnType<CreateJournal['read']> =>
      at === 1 && (reads += 1) === 2 ? Promise.reject(new Error('away')) : journal.read(key, at);
    await expect(reconcile('later', {}, { ...journal, read: fails })).rejects.toMatchObject({
      type: 'MediaJournalUnavailable',
      nonRetryable: false,
    });
  });

  it('the fence is taken in the send attempt in which a send could still begin', async () => {
    await record(0, 'first', refused);
    expect(await reconcile('later', { fingerprint: claimIntent().fingerprint })).toMatchObject({
      outcome: 'not_sent',
      cause: 'fenced',
      sendAttempt: 1,
      sendAttemptUsed: true,
    });
    expect((await journal.read(KEY, 1)).claim?.kind).toBe('fence');
  });

  it("[C4.4a] beyond another run's send attempts the create goes back to compare the requests", async () => {
    await record(0, 'first', refused);
    const back = {
      outcome: 'not_sent',
      cause: 'fenced',
      sendAttempt: 0,
      sendAttemptUsed: false,
      permanent: false,
    };
    expect(await reconcile('later')).toMatchObject(back);
    expect((await journal.read(KEY, 1)).claim?.kind).toBe('fence');
    expect(await reconcile('later')).toMatchObject(back);
  });

  it('the run that was refused gets its own refusal back', async () => {
    await record(0, 'first', refused);
    expect(await reconcile('first')).toMatchObject({
      outcome: 'rejected',
      reason: 'credentials',
      sendAttempt: 0,
    });
  });

  it("another run's outcome is handed out only once the create has compared the requests", async () => {
    await record(0, 'first', { ...created, sendAttempt: 0 });
    expect(await reconcile('later')).toMatchObject({
      outcome: 'not_sent',
      sendAttemptUsed: false,
      sendAttempt: 0,
    });
    expect(await reconcile('later', { fingerprint: claimIntent().fingerprint })).toMatchObject({
      outcome: 'created',
      sendAttempt: 0,
    });
  });

  it('[C4.4a] what another request came to is handed out to nobody, and beyond a refusal a lost create is shut out', async () => {
    const refusal = { ...refused, reason: 'invalid_request', sendAttempt: 0 } as const;
    await record(0, 'first', refusal);
    const unread = {
      outcome: 'not_sent',
      cause: 'recorded_by_another_run',
      sendAttemptUsed: false,
      sendAttempt: 0,
    };
    expect(await reconcile('later', { fingerprint: 'corrected' })).toMatchObject({
      sendAttempt: 1,
      cause: 'fenced',
    });
    expect(await reconcile('later')).toMatchObject(unread);
    expect((await journal.read(KEY, 1)).claim).toMatchObject({ kind: 'fence' });
    await record(2, 'second', { ...created, sendAttempt: 2 });
    expect(await reconcile('later', { fingerprint: 'corrected' })).toMatchObject({
      cause: 'fenced',
      sendAttempt: 1,
    });
    expect(await reconcile('later', { fingerprint: 'corrected', sendAttempt: 2 })).toMatchObject({
      ...unread,
      sendAttempt: 2,
    });
  });

  it("[C4.4a] another run's unknown fate is told only once the create has compared the requests", async () => {
    await record(0, 'first', undefined, Date.now() - 1);
    expect(await reconcile('later')).toMatchObject({
      outcome: 'not_sent',
      sendAttemptUsed: false,
      sendAttempt: 0,
    });
    expect(await reconcile('later', { fingerprint: claimIntent().fingerprint })).toMatchObject({
      outcome: 'unconfirmed',
      sendAttempt: 0,
    });
  });

  it('waits for a sender that may still be alive by a retry of its own', async () => {
    await record(0, 'later', undefined, Date.now() + 60_000);
    const failure = await reconcile('later').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ nonRetryable: false, details: [{ class: 'waiting_for_sender' }] });
  });
});
