import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { type CreatePolicy } from '../../src/domain/create-policy';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { createFileJournal } from '../../src/journal/file-journal';
import { createMediaClient } from '../../src/service/create-media-client';
import { json, loopback } from '../service/loopback-service';
import { paidDeps } from './paid-deps';
import { RESUBMITTED } from './claim-intent';

const KEY = { namespace: 'default', creationKey: 'order-1' };
const POLICY: CreatePolicy = {
  on503: 'inspect',
  idempotency: { header: 'Idempotency-Key', honoured: true, windowSeconds: 86_400 },
};

describe('a call that is to be sent again under its key', () => {
  it('[C8.7] leaves a send attempt that another run has started since as long as the service asked of that one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'temporal-media-same-key-'));
    let requests = 0;
    const service = await loopback((_, response) => {
      requests += 1;
      json(response, 503, {}, { 'retry-after': '600' });
    });
    const client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    const journal = createFileJournal({ root: join(folder, 'journal') });
    const activity = createCreateVideo(paidDeps(folder, journal, client));
    const ask = (runId: string, sameKey?: true): Promise<CreateVideoAnswer> =>
      new MockActivityEnvironment({
        workflowExecution: { workflowId: runId, runId },
        workflowNamespace: KEY.namespace,
        startToCloseTimeoutMs: 70_000,
      }).run(activity, {
        creationKey: KEY.creationKey,
        sendAttempt: 0,
        policy: POLICY,
        request: { model: 'm', prompt: 'once more' },
        ...(sameKey === true && { sameKey }),
      });
    try {
      expect(await ask('first')).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 0 });
      await journal.putResolution(KEY, 0, RESUBMITTED);
      const unknown = await ask('second');
      expect(unknown).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1 });
      const { notBefore } = unknown as { notBefore?: string };
      expect(notBefore).toEqual(expect.any(String));
      expect(await ask('first', true)).toMatchObject({ outcome: 'unconfirmed', sendAttempt: 1, notBefore });
      expect(requests).toBe(2);
    } finally {
      await client.close();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
