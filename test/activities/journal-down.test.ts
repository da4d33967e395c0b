import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createMediaActivities } from '../../src/activities/create-media-activities';
import { type MediaActivities } from '../../src/domain/activities';
import { ACTIVITY } from '../../src/domain/names';
import { type CreateVideoInput, type GenerateImageInput } from '../../src/domain/paid-call';
import { createMediaClient } from '../../src/service/create-media-client';
import { accountRegistry } from '../../src/settings/accounts';
import { createModelSource } from '../../src/settings/model-source';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';

/** A journal that cannot be read says nothing about the attempts before this one (failure model: rows 6 and 19). */
describe('a journal that is down', () => {
  const client = createMediaClient({ baseUrl: 'http://127.0.0.1:9', apiKey: () => 'key' });
  afterAll(() => client.close());

  function activities(): MediaActivities {
    const journal = createFileJournal({ root: join('/nowhere', 'journal') });
    return createMediaActivities({
      accounts: accountRegistry([{ name: 'default@00000000', client, hasKey: async () => true }]),
      artifacts: new FileArtifactStore(join('/nowhere', 'artifacts')),
      journal: { ...journal, read: () => Promise.reject(new Error('EIO')) },
      models: createModelSource(),
    });
  }
  const call = { creationKey: 'order-1', request: { model: 'm', prompt: 'a kite' } };
  const attempt = (number: number) => new MockActivityEnvironment({ attempt: number });

  it('[C4.4c] at the first attempt of a create nothing was sent; at a later one nobody knows', async () => {
    const create = (input: CreateVideoInput) => activities()[ACTIVITY.createVideo](input);
    expect(await attempt(1).run(create, call)).toMatchObject({ outcome: 'not_sent', sendAttemptUsed: false });
    expect(await attempt(2).run(create, call)).toMatchObject({ outcome: 'pending' });
  });

  it('[C4.4c] nor does the last attempt of an image call say that nothing was sent', async () => {
    const generate = (input: GenerateImageInput) => activities()[ACTIVITY.generateImage](input);
    const last = new MockActivityEnvironment({ attempt: 5, retryPolicy: { maximumAttempts: 5 } });
    const failure: unknown = await last.run(generate, call).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ details: [{ class: 'waiting_for_sender' }] });
  });
});
