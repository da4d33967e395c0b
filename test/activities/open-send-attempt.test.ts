import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  claimSendAttempt,
  isPassed,
  type OpenedSendAttempt,
  openSendAttempt,
} from '../../src/activities/send-attempts';
import { otherOpenCall } from '../../src/activities/await-sender';
import { type CreateJournal, type RecordedAnswer, type ClaimFence } from '../../src/domain/journal';
import { createFileJournal } from '../../src/journal/file-journal';
import { answers } from '../domain/create-answers';
import { RESUBMITTED, claimIntent } from './claim-intent';

const KEY = { namespace: 'default', creationKey: 'order-1' };
const NOW = Date.UTC(2026, 0, 1);
const LATER = new Date(NOW + 60_000).toISOString();
const fence: ClaimFence = { v: 1, kind: 'fence', nonce: 'f', at: LATER };

describe('the way over the send attempts of one key', () => {
  let root: string;
  let journal: CreateJournal;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'temporal-media-way-'));
    journal = createFileJournal({ root });
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const open = (
    runId: string,
    fingerprint: string | null = claimIntent().fingerprint,
  ): Promise<OpenedSendAttempt> =>
    openSendAttempt(journal, KEY, 0, { fingerprint, workflowId: 'wf', runId, now: () => NOW });

  async function sender(sendAttempt: number, runId: string, answer?: RecordedAnswer): Promise<void> {
    await journal.putClaim(KEY, sendAttempt, claimIntent({ ...KEY, runId }));
    if (answer !== undefined)
      await journal.putOutcome(KEY, sendAttempt, { v: 1, nonce: 'n', at: '', answer });
  }

  it('[C2.2.1] leads to a recorded task beyond a send attempt whose proof of "not sent" was not recorded', async () => {
    await sender(0, 'first');
    await sender(1, 'first', answers.created(1));
    expect(await open('later')).toMatchObject({
      do: 'return',
      sendAttempt: 1,
      outcome: { answer: { sendAttempt: 1 } },
    });
    expect(await open('later', null)).toMatchObject({ do: 'return', sendAttempt: 1 });
    expect((await open('later')).mayBeOwed).toBeUndefined();
  });

  it('[C4.4a] leads no other request beyond it', async () => {
    await sender(0, 'first');
    await sender(1, 'first', answers.created(1));
    expect(await open('later', 'another')).toMatchObject({ do: 'conflict', sendAttempt: 0 });
  });

  it('[C4.4a] tells of money that may be owed where a person went past an unknown fate, and nowhere else', async () => {
    await sender(0, 'first');
    await journal.putResolution(KEY, 0, RESUBMITTED);
    expect(await open('later')).toMatchObject({ do: 'send', sendAttempt: 1, mayBeOwed: true });
    // Here the refusal came after the decision: nothing was accepted.
    await sender(1, 'first', answers.rejected(1));
    await journal.putResolution(KEY, 1, RESUBMITTED);
    expect(
      await openSendAttempt(journal, KEY, 1, {
        fingerprint: claimIntent().fingerprint,
        workflowId: 'wf',
        runId: 'later',
        now: () => NOW,
      }),
    ).toEqual({ do: 'send', sendAttempt: 2, intents: ['ours'] });
  });

  it('[C4.4c] ends at an unknown fate that nobody went past, also where a fence stands beyond it', async () => {
    await sender(0, 'first');
    expect(await open('later')).toMatchObject({ do: 'pending', sendAttempt: 0 });
    await journal.putClaim(KEY, 1, fence);
    expect(await open('later')).toMatchObject({ do: 'pending', sendAttempt: 0 });
    await sender(2, 'first');
    // The caller goes on after a fence by itself.
    expect(await open('later')).toMatchObject({ do: 'fenced', sendAttempt: 1 });
  });

  it('[C4.4c] ends at an unknown fate that was recorded before the send attempt where it begins', async () => {
    // A journal that stands in for a lost one, and a caller that the lost one had let into the next send attempt.
    await sender(0, 'somebody', answers.unconfirmed(0));
    const asker = {
      fingerprint: claimIntent().fingerprint,
      workflowId: 'wf',
      runId: 'later',
      now: () => NOW,
    };
    expect(await openSendAttempt(journal, KEY, 2, asker)).toMatchObject({ do: 'return', sendAttempt: 0 });
    expect(await openSendAttempt(journal, KEY, 2, { ...asker, fingerprint: 'another' })).toMatchObject({
      do: 'conflict',
      sendAttempt: 0,
    });
  });

  describe('where another journal let the workflow into a later send attempt', () => {
    const begins = (from: number, workflowId = 'wf'): Promise<OpenedSendAttempt> =>
      openSendAttempt(journal, KEY, from, {
        fingerprint: claimIntent().fingerprint,
        workflowId,
        runId: 'later',
        now: () => NOW,
      });

    it('[C4.4a] ends at a purchase of somebody else', async () => {
      await journal.putClaim(KEY, 0, fence);
      await sender(1, 'somebody', answers.created(1));
      expect(await begins(3)).toMatchObject({ do: 'return', sendAttempt: 1 });
    });

    it('[C4.4c] ends at a send of another workflow that left no outcome, and goes past its own', async () => {
      await sender(0, 'somebody');
      expect(await begins(2, 'another')).toMatchObject({ do: 'pending', sendAttempt: 0 });
      // It was told that this one was refused, whether that was recorded or not.
      expect(await begins(2)).toMatchObject({ do: 'send', sendAttempt: 2 });
    });

    it('[C4.4c] ends at what stands in for a send of its own', async () => {
      await journal.putClaim(KEY, 0, claimIntent({ ...KEY, bodyHash: '' }));
      expect(await begins(2)).toMatchObject({ do: 'pending', sendAttempt: 0 });
    });

    it('[C4.4a] ends at what a person adopted, and goes past what a person let be sent again', async () => {
      await sender(0, 'somebody', answers.unconfirmed(0));
      await journal.putResolution(KEY, 0, RESUBMITTED);
      await sender(1, 'somebody', answers.unconfirmed(1));
      const answer = answers.created(1);
      await journal.putResolution(KEY, 1, { ...RESUBMITTED, decision: 'adopt', answer });
      expect(await begins(3)).toMatchObject({ do: 'return', sendAttempt: 1 });
    });

    it('[C4.4a] shuts out whoever was not let so far, before anything is sent', async () => {
      expect(await begins(2)).toMatchObject({ do: 'send', sendAttempt: 2 });
      for (const sendAttempt of [0, 1])
        expect((await journal.read(KEY, sendAttempt)).claim).toMatchObject({ kind: 'fence' });
      expect((await journal.read(KEY, 2)).claim).toBeNull();
    });
  });

  it('leads a caller that only wants what is recorded past fences, to whatever stands behind them', async () => {
    const read = (recordedOnly: boolean): Promise<OpenedSendAttempt> =>
      openSendAttempt(journal, KEY, 0, {
        fingerprint: claimIntent().fingerprint,
        workflowId: 'wf',
        runId: 'later',
        now: () => NOW,
        recordedOnly,
      });
    await journal.putClaim(KEY, 0, fence);
    await journal.putClaim(KEY, 1, fence);
    expect(await read(false)).toMatchObject({ do: 'fenced', sendAttempt: 0 });
    expect(await read(true)).toMatchObject({ do: 'send', sendAttempt: 2 });
    await sender(2, 'first');
    expect(await read(true)).toMatchObject({ do: 'pending', sendAttempt: 2 });
    await sender(3, 'first', answers.created(3));
    expect(await read(true)).toMatchObject({ do: 'return', sendAttempt: 3 });
    expect(await read(false)).toMatchObject({ do: 'fenced', sendAttempt: 0 });
  });

  it('[C2.2.1] leads to its task beyond another request that a person let be sent again', async () => {
    await journal.putClaim(KEY, 0, claimIntent({ ...KEY, runId: 'other', fingerprint: 'other' }));
    await journal.putResolution(KEY, 0, RESUBMITTED);
    expect(await open('later')).toMatchObject({ do: 'conflict', sendAttempt: 0 });
    await sender(1, 'first', answers.created(1));
    expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 1 });
    expect(await open('later', 'a third')).toMatchObject({ do: 'conflict', sendAttempt: 0 });
  });

  it('[C4.4a] a journal that does not have the send attempts before gets fences for them, so that none stands alone', async () => {
    const own = claimIntent({ ...KEY, runId: 'first', nonce: 'own' });
    expect(await claimSendAttempt(journal, KEY, 2, own)).toBe('won');
    expect((await journal.read(KEY, 0)).claim).toMatchObject({ kind: 'fence' });
    expect((await journal.read(KEY, 1)).claim).toMatchObject({ kind: 'fence' });
    // Another caller with the key goes past the fences, to what stands there.
    expect(await open('later')).toMatchObject({ do: 'fenced', sendAttempt: 0 });
    const asker = { fingerprint: own.fingerprint, workflowId: 'wf', runId: 'later', now: () => NOW };
    expect(await openSendAttempt(journal, KEY, 1, asker)).toMatchObject({ do: 'fenced', sendAttempt: 1 });
    expect(await openSendAttempt(journal, KEY, 2, asker)).toMatchObject({ do: 'pending', sendAttempt: 2 });
  });

  it('[C4.4c] ends at a recorded unknown fate, whatever stands beyond it', async () => {
    await sender(0, 'first', answers.unconfirmed(0));
    await sender(1, 'first', answers.created(1));
    expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 0 });
  });

  it.each([1_000, 90_000, 3_600_000])(
    '[C8.7] waits the whole Retry-After of a record whose clock is ahead by %i ms, and no longer',
    async (aheadMs) => {
      const at = (ms: number): string => new Date(NOW + aheadMs + ms).toISOString();
      const answer = answers.refused(0, at(2_000));
      await journal.putClaim(KEY, 0, claimIntent({ ...KEY, runId: 'first' }));
      await journal.putOutcome(KEY, 0, { v: 1, nonce: 'n', at: at(0), answer });
      const notBefore = new Date(NOW + 2_000).toISOString();
      expect(await open('later')).toMatchObject({ do: 'return', outcome: { answer: { notBefore } } });
    },
  );

  it('[C8.7] ends before a Retry-After that is not over, unless somebody went past it: a fence did not', async () => {
    await sender(0, 'first', answers.refused(0, LATER));
    await journal.putClaim(KEY, 1, fence);
    expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 0 });
    await sender(2, 'first', answers.created(2));
    expect(await open('later')).toMatchObject({ do: 'fenced', sendAttempt: 1 });
    expect(await open('first')).toMatchObject({ do: 'return', sendAttempt: 0 });
  });

  describe('after a refusal of the request', () => {
    const again = (runId: string, fingerprint = claimIntent().fingerprint): Promise<OpenedSendAttempt> =>
      openSendAttempt(journal, KEY, 0, { fingerprint, workflowId: 'wf', runId, now: () => NOW, again: true });
    const corrected = async (sendAttempt: number, answer?: RecordedAnswer): Promise<void> => {
      await journal.putClaim(
        KEY,
        sendAttempt,
        claimIntent({ ...KEY, runId: 'corrected', fingerprint: 'corrected' }),
      );
      if (answer !== undefined)
        await journal.putOutcome(KEY, sendAttempt, { v: 1, nonce: 'n', at: '', answer });
    };
    beforeEach(() => sender(0, 'first', answers.rejected(0, 'invalid_request')));

    it('[C7.1] leads the corrected one to the next send attempt, and the same one by a word only', async () => {
      expect(await open('later', 'corrected')).toMatchObject({ do: 'send', sendAttempt: 1 });
      expect(await again('later')).toMatchObject({ do: 'send', sendAttempt: 1 });
      expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 0 });
    });

    it('[C4.4a] never leads the first one to what the corrected one bought', async () => {
      await corrected(1, answers.created(1));
      expect(await open('later', 'corrected')).toMatchObject({ do: 'return', sendAttempt: 1 });
      expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 0 });
      expect(await again('later')).toMatchObject({ do: 'conflict', sendAttempt: 1 });
    });

    it('[C4.4c] leads whoever asks for the same to what was bought by a word, past a second refused one', async () => {
      await corrected(1, answers.rejected(1, 'invalid_request'));
      expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 0 });
      await sender(2, 'by a word', answers.created(2));
      expect(await open('later')).toMatchObject({ do: 'return', sendAttempt: 2 });
      expect(await open('later', 'corrected')).toMatchObject({ do: 'return', sendAttempt: 1 });
      // The run that was refused stays where it was told so.
      expect(await open('first')).toMatchObject({ do: 'return', sendAttempt: 0 });
      // A lost sender of a run may stand anywhere on its way.
      expect(await open('corrected', null)).toMatchObject({ do: 'return', sendAttempt: 1 });
    });
  });

  it('is passed where a sender stands beyond it', async () => {
    expect(await isPassed(journal, KEY, 0)).toBe(false);
    await sender(0, 'first');
    await journal.putClaim(KEY, 1, fence);
    await journal.putClaim(KEY, 2, fence);
    expect(await isPassed(journal, KEY, 0)).toBe(false);
    await sender(3, 'first');
    expect(await isPassed(journal, KEY, 0)).toBe(true);
  });

  it('[C4.4a] a call of unknown fate stops the same request under another key until somebody went past it', async () => {
    await sender(0, 'first');
    const other = () => otherOpenCall(journal, { ...KEY, creationKey: 'order-2' }, claimIntent(), Date.now());
    expect(await other()).toMatchObject({ creationKey: 'order-1', sendAttempt: 0 });
    await sender(1, 'first', answers.created(1));
    await journal.forgetOpen({ ...KEY, sendAttempt: 1 }, claimIntent().bodyHash);
    expect(await other()).toBeUndefined();
  });

  it('[C4.4c] a recorded unknown fate stops it also then', async () => {
    await sender(0, 'first', answers.unconfirmed(0));
    await sender(1, 'first', answers.created(1));
    const other = await otherOpenCall(journal, { ...KEY, creationKey: 'order-2' }, claimIntent(), Date.now());
    expect(other).toMatchObject({ creationKey: 'order-1', sendAttempt: 0 });
  });
});
