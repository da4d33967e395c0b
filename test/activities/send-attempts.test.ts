import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { claimSendAttempt } from '../../src/activities/send-attempts';
import { type CreateJournal } from '../../src/domain/journal';
import { type CreateVideoAnswer, type CreateVideoInput } from '../../src/domain/paid-call';
import { createFileJournal } from '../../src/journal/file-journal';
import { createMediaClient } from '../../src/service/create-media-client';
import { json, loopback, type Loopback } from '../service/loopback-service';
import { claimIntent } from './claim-intent';
import { paidDeps } from './paid-deps';

const KEY = { namespace: 'default', creationKey: 'order-1' };

const intent = claimIntent();

/** What a journal does with the claim of send attempt 0 besides writing it. */
type Ambiguity =
  | 'written, then fails'
  | 'written, then says lost'
  | 'fails unwritten'
  | 'taken by another request';

/** A real file journal whose first claim ends ambiguously, as a store behind a network may. */
function ambiguous(journal: CreateJournal, ambiguity: Ambiguity): CreateJournal {
  return {
    ...journal,
    putClaim: async (key, sendAttempt, claim) => {
      if (sendAttempt > 0) return journal.putClaim(key, sendAttempt, claim);
      if (ambiguity === 'taken by another request') {
        await journal.putClaim(key, sendAttempt, { ...intent, nonce: 'theirs', fingerprint: 'another' });
        return journal.putClaim(key, sendAttempt, claim);
      }
      if (ambiguity !== 'fails unwritten') await journal.putClaim(key, sendAttempt, claim);
      if (ambiguity === 'written, then says lost') return 'lost';
      throw new Error('the store did not answer');
    },
  };
}

describe('an ambiguous claim', () => {
  let folder: string;
  let journal: CreateJournal;
  let service: Loopback;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-send-attempts-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
    service = await loopback((_, response) => json(response, 200, { id: 'video_1', status: 'queued' }));
  });
  afterEach(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const claim = (ambiguity: Ambiguity) => claimSendAttempt(ambiguous(journal, ambiguity), KEY, 0, intent);

  it('that was written although the journal failed is unsure: it may not be durable', async () => {
    expect(await claim('written, then fails')).toBe('unsure');
  });

  it('that is told as lost and holds our own nonce is won', async () => {
    expect(await claim('written, then says lost')).toBe('won');
  });

  it('that holds the nonce of another sender is lost, however the write ended', async () => {
    await journal.putClaim(KEY, 0, { ...intent, nonce: 'theirs' });
    expect(await claim('written, then says lost')).toBe('lost');
    await expect(claim('written, then fails')).rejects.toThrow('did not answer');
  });

  it('that was never written is thrown', async () => {
    await expect(claim('fails unwritten')).rejects.toThrow('did not answer');
  });

  /** One execution of the real activity against a real service. */
  async function create(ambiguity: Ambiguity, sendAttempt: number): Promise<CreateVideoAnswer> {
    const client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    const activity = createCreateVideo(paidDeps(folder, ambiguous(journal, ambiguity), client));
    const env = new MockActivityEnvironment({
      workflowExecution: { workflowId: 'wf', runId: 'run' },
      workflowNamespace: KEY.namespace,
      startToCloseTimeoutMs: 70_000,
    });
    const request = { model: 'm', prompt: 'a claim in doubt' };
    const input: CreateVideoInput = { creationKey: KEY.creationKey, sendAttempt, request };
    try {
      return await env.run(activity, input);
    } finally {
      await client.close();
    }
  }

  it('[C4.4a] sends nothing in its send attempt, and the next send attempt sends once', async () => {
    expect(await create('written, then fails', 0)).toMatchObject({
      outcome: 'not_sent',
      cause: 'journal_unavailable',
      sendAttempt: 0,
      sendAttemptUsed: true,
      permanent: false,
    });
    expect(service.seen).toHaveLength(0);
    expect(await create('written, then fails', 1)).toMatchObject({
      outcome: 'created',
      sendAttempt: 1,
      sent: true,
    });
    expect(service.seen).toHaveLength(1);
    // Whoever comes later finds the video behind the send attempt that was given up.
    expect(await create('written, then fails', 1)).toMatchObject({ outcome: 'created', sent: false });
    expect(service.seen).toHaveLength(1);
  });

  it('[C4.4a] that another request has taken just now is a conflict, not a send to wait for', async () => {
    expect(await create('taken by another request', 0)).toMatchObject({
      outcome: 'rejected',
      reason: 'creation_key_conflict',
      sent: false,
    });
    expect(service.seen).toHaveLength(0);
  });

  it('[C4.4a] of our own is sent on once', async () => {
    expect(await create('written, then says lost', 0)).toMatchObject({ outcome: 'created', sent: true });
    expect(service.seen).toHaveLength(1);
  });
});
