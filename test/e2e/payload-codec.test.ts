import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { TemporalMediaClient } from '../../src/client';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { findLostCalls } from '../../src/worker/bind-queue';
import { storedManifest } from '../support/campaign';
import { expectUnreadable, newEncryption } from '../support/encryption';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { ownNamespace } from '../support/temporal';

describe('a codec that encrypts what crosses to the server', () => {
  const dataConverter = { payloadCodecs: [newEncryption()] };
  // Commands of other tests list what is in their namespace, and have no codec.
  const stack = sharedStack(
    async () => ({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 500 } },
    }),
    (made) => made.startWorker({ worker: { dataConverter } }),
  );

  const clientOf = ({ server, taskQueue }: MediaStack) => {
    const client = new Client({
      connection: server.client.connection,
      namespace: server.namespace,
      dataConverter,
    });
    return { client, media: new TemporalMediaClient(client, { taskQueue }) };
  };

  it('a video, an image and their decisions', async () => {
    const made = await stack();
    const { media } = clientOf(made);
    const [video, image, lost] = await Promise.all([
      media.startVideo({ request: { model: 'cine-1', prompt: 'a hidden kite', durationSeconds: 2 } }),
      media.images.start({ request: { model: 'image-2', prompt: 'a hidden boat', size: '512x512' } }),
      media.startVideo({
        request: { model: 'cine-1', prompt: '[lost-reply] a hidden mill', durationSeconds: 2 },
      }),
    ]);
    const [filmed, drawn, unknown] = await Promise.all([video.result(), image.result(), lost.result()]);
    expect([filmed.outcome, drawn.outcome, unknown.outcome]).toEqual([
      'completed',
      'completed',
      'unconfirmed',
    ]);
    if (filmed.outcome !== 'completed') return;
    const resumed = await media.resume(filmed.video.taskId);
    expect(await resumed.result()).toMatchObject({ outcome: 'completed', artifact: filmed.artifact });
    await expectUnreadable(made.server, [video.workflowId, image.workflowId, lost.workflowId]);
  });

  it('hides the ids of paid calls from a rebind without it, which is refused', async () => {
    const made = await stack();
    const request = { model: 'cine-1', prompt: 'a hidden well', durationSeconds: 2 };
    await (await clientOf(made).media.startVideo({ request })).result();
    const { server, dataDir, taskQueue } = made;
    const journal = createFileJournal({ root: join(dataDir, 'lacks-it') });
    const blind = new Client({ connection: server.client.connection, namespace: server.namespace });
    const lost = findLostCalls(blind, taskQueue, server.namespace, journal);
    await expect(lost).rejects.toThrow(
      /was not rebound.*cannot be read here: Unknown encoding: binary\/encrypted/,
    );
  });

  it('a campaign, its batches, its orders and its results', async () => {
    const made = await stack();
    const { media } = clientOf(made);
    const rows = Array.from({ length: 4 }, (_, n) => ({
      id: `row-${n}`,
      model: 'cine-1',
      prompt: `a hidden cloud number ${n}`,
      duration: 2,
    }));
    const id = made.server.uniqueId('hidden');
    const budget = { microUnits: 4 * 100_000, currency: 'USD' };
    const started = await media.campaigns.start(
      { manifest: await storedManifest(made, rows), concurrency: 2, budget },
      { id },
    );
    expect(await media.campaigns.order(id, 'setConcurrency', { concurrency: 3 })).toMatchObject({
      accepted: true,
    });
    expect(await started.result()).toMatchObject({ outcome: 'completed', counts: { completed: 4 } });
    expect(await media.campaigns.state(id)).toMatchObject({ counts: { completed: 4 } });
    await expectUnreadable(made.server, [id, `${id}/batch/0`]);
  });
});
