import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCreateVideo } from '../../src/activities/create-video';
import { storeImages } from '../../src/activities/image-results';
import { NO_JOURNAL } from '../../src/domain/journal';
import { type ModelConfiguration } from '../../src/domain/model-config';
import { type CompletedImages, type CreateVideoInput, type ResultsLost } from '../../src/domain/paid-call';
import { createMediaClient } from '../../src/service/create-media-client';
import { type MediaClient } from '../../src/service/media-client';
import { createModelSource } from '../../src/settings/model-source';
import { FileArtifactStore } from '../../src/stores/artifacts/file-store';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { loopback, type Loopback } from '../service/loopback-service';
import { makePng } from '../stores/artifacts/make-media';
import { paidDeps } from './paid-deps';

const BAD_URL = 'https://[bad/x.png';

describe('bytes that do not come', () => {
  let folder: string;
  let service: Loopback;
  let client: MediaClient;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-keep-'));
    service = await loopback((_, response) => drip(response));
    client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
  });
  afterEach(async () => {
    await client.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const keep = (url: string, deadlineMs: number, count = 1): Promise<CompletedImages | ResultsLost> =>
    storeImages(
      {
        created: null,
        items: Array.from({ length: count }, () => ({ kind: 'url', url })),
      },
      {
        base: { sendAttempt: 0, sent: true, account: 'default@00000000', estimate: null },
        client,
        artifacts: new FileArtifactStore(join(folder, 'artifacts')),
        requested: 1,
        warnings: [],
        journal: NO_JOURNAL,
        deadlineAt: performance.now() + deadlineMs,
      },
    );

  it('[C8.6] a result that drips for ever is lost at the deadline, while the outcome can still be written', async () => {
    expect(await keep(`${service.origin}/generated/1.png`, 3_000)).toMatchObject({
      outcome: 'results_lost',
      images: [null],
    });
    expect(service.seen).toHaveLength(1);
  });

  it('[C8.6] a reply that names a hundred results does not open a hundred connections', async () => {
    const kept = await keep(`${service.origin}/generated/1.png`, 500, 100);
    expect(kept.outcome === 'results_lost' && kept.images).toHaveLength(100);
    expect(service.seen.length).toBeLessThanOrEqual(8);
  });

  it('[C8.6] a reply that names ten thousand results is lost with a thousand of them, so that the answer can be told', async () => {
    const lost = await keep(`data:image/png;base64,${makePng(1, 1).toString('base64')}`, 30_000, 10_000);
    expect(lost).toMatchObject({ outcome: 'results_lost', reason: 'too_many_results' });
    expect(lost.images).toHaveLength(1_000);
    expect(lost.images[999]).toMatchObject({ mediaType: 'image/png' });
  });

  it('[C5.4b] a result where nothing may be asked is named by its origin, with the setting that allows it', async () => {
    const lost = await keep('http://127.0.0.1:1/generated/a.png?signature=zz', 60_000);
    expect(lost).toMatchObject({ outcome: 'results_lost', reason: 'blocked' });
    const { message } = lost as ResultsLost;
    expect(message).toContain(`is at http://127.0.0.1:1, which is neither the service (${service.origin})`);
    expect(message).toContain('MEDIA_ALLOWED_MEDIA_ORIGINS');
    expect(message).not.toMatch(/signature|generated|zz/);
    expect(service.seen).toHaveLength(0);
  });

  it('a result address that is none is lost, not an error of ours after the payment', async () => {
    expect(await keep(BAD_URL, 60_000)).toMatchObject({ outcome: 'results_lost', reason: 'unreadable_url' });
  });

  it('a reference address that is none is refused by its field, and nothing is sent', async () => {
    const models = join(folder, 'models.json');
    const configuration: ModelConfiguration = {
      version: 1,
      models: [
        {
          id: 'video-1',
          kind: 'video',
          references: [{ kind: 'image', field: 'image', shape: 'string', form: 'data_url' }],
        },
      ],
    };
    await writeFile(models, JSON.stringify(configuration));
    const activity = createCreateVideo({
      ...paidDeps(folder, createFileJournal({ root: join(folder, 'journal') }), client),
      models: createModelSource({ location: models }),
    });
    const input: CreateVideoInput = {
      creationKey: 'order-1',
      request: {
        model: 'video-1',
        prompt: 'a reference from nowhere',
        references: [{ kind: 'image', source: { url: BAD_URL } }],
      },
    };
    const env = new MockActivityEnvironment({ startToCloseTimeoutMs: 70_000 });
    expect(await env.run(activity, input)).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid_request',
      field: 'references[0].source',
      sent: false,
    });
    expect(service.seen).toHaveLength(0);
  });
});

/** A byte now and then: never idle for long, and never at an end. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'image/png' });
  response.write('\x89PNG');
  const timer = setInterval(() => response.write('.'), 50);
  response.on('close', () => clearInterval(timer));
}
