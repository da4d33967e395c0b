import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createImageCall } from '../../src/activities/image-call';
import { type CreateJournal } from '../../src/domain/journal';
import { type ImageOutcome } from '../../src/domain/outcome';
import { type WaitingImage } from '../../src/domain/paid-call';
import { createMediaClient } from '../../src/service/create-media-client';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { json, loopback, type Loopback } from '../service/loopback-service';
import { makePng } from '../stores/artifacts/make-media';
import { paidDeps } from './paid-deps';

/** Paid images lie where the worker may not go yet, under links that the journal keeps sealed. */
describe('the links of paid images that could not be kept', () => {
  let folder: string;
  let service: Loopback;
  let elsewhere: Loopback;
  let journal: CreateJournal;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-lost-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
    elsewhere = await loopback((_, response) => void response.end(makePng(3, 2)));
    const url = `${elsewhere.origin}/generated/1.png?signature=s3cret-sig`;
    service = await loopback((_, response) => json(response, 200, { created: 7, data: [{ url }] }));
  });
  afterEach(async () => {
    await service.close();
    await elsewhere.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** One worker of the account, with the key that it has by then. */
  const generate = async (
    apiKey: string,
    allowedMediaOrigins: readonly string[],
    own = journal,
  ): Promise<ImageOutcome | WaitingImage> => {
    const client = createMediaClient({ baseUrl: service.origin, apiKey: () => apiKey, allowedMediaOrigins });
    const call = createImageCall('generate_image', paidDeps(folder, own, client));
    try {
      const environment = new MockActivityEnvironment({ startToCloseTimeoutMs: 480_000 });
      return await environment.run(call, {
        creationKey: 'order-1',
        request: { model: 'm', prompt: 'a kite' },
      });
    } finally {
      await client.close();
    }
  };

  it.each([
    ['the key of the account is another by now', 'one', 'two'],
    ['the service takes no key at all', 'none', 'none'],
  ])('[C4.4a] [C5.4b] open although %s: the images are fetched and nothing is sent', async (_, then, now) => {
    expect(await generate(then, [])).toMatchObject({ outcome: 'results_lost', fetchable: true });
    const names = await readdir(join(folder, 'journal'), { recursive: true, withFileTypes: true });
    for (const file of names.filter((entry) => entry.isFile()))
      expect(await readFile(join(file.parentPath, file.name), 'latin1')).not.toMatch(/generated|s3cret/);
    expect(await generate(now, [elsewhere.origin])).toMatchObject({ outcome: 'completed', created: 7 });
    expect([service.seen.length, elsewhere.seen.length]).toEqual([1, 1]);
  });

  it('[C4.4a] are given up where the journal has no key for them, and what was paid for is still told', async () => {
    const broken = { ...journal, sealingKey: () => Promise.reject(new Error('EIO')) };
    expect(await generate('one', [], broken)).toMatchObject({
      outcome: 'results_lost',
      fetchable: false,
      billing: { state: 'needs_review' },
    });
    expect(service.seen).toHaveLength(1);
  });
});
