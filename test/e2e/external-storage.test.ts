import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { TemporalMediaClient } from '../../src/client';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { findLostCalls } from '../../src/worker/bind-queue';
import { runJson } from '../cli/support/run-cli';
import { storedIn } from '../support/file-driver';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { ownNamespace } from '../support/temporal';

describe('payloads in external storage', () => {
  const dir = mkdtempSync(join(tmpdir(), 'temporal-media-external-'));
  const dataConverter = storedIn(dir);
  // Commands of other tests list what is in their namespace, and have no driver.
  const stack = sharedStack(
    async () => ({ temporal: await ownNamespace() }),
    (made) => made.startWorker({ worker: { dataConverter } }),
  );
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const clientOf = ({ server }: MediaStack, converter = dataConverter): Client =>
    new Client({
      connection: server.client.connection,
      namespace: server.namespace,
      dataConverter: converter,
    });

  it('a rebind finds every paid call with the driver of its worker; what has none says that it cannot read them', async () => {
    const made = await stack();
    const { dataDir, taskQueue, server } = made;
    const media = new TemporalMediaClient(clientOf(made), { taskQueue });
    const video = { request: { model: 'cine-1', prompt: 'a distant kite', durationSeconds: 2 } };
    const [first, second, image] = await Promise.all([
      media.startVideo(video),
      media.startVideo(video),
      media.images.start(
        { request: { model: 'image-2', prompt: 'a distant boat', size: '512x512' } },
        { as: 'workflow' },
      ),
    ]);
    const ends = await Promise.all([first.result(), second.result(), image.result()]);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);

    const journal = createFileJournal({ root: join(dataDir, 'lacks-them') });
    const lost = await findLostCalls(clientOf(made), taskQueue, server.namespace, journal);
    expect(lost.calls.map(({ workflowId }) => workflowId).sort()).toEqual(
      [first, second, image].map(({ workflowId }) => workflowId).sort(),
    );
    expect(lost.calls.filter(({ created }) => created !== undefined)).toHaveLength(2);

    for (const command of [
      ['status', 'task_that_nobody_can_look_for'],
      ['replay', image.workflowId],
      ['history', 'export', image.workflowId, join(dataDir, 'export.json'), '--redact'],
    ]) {
      const { reply } = await runJson(command, made.env);
      expect([command[0], reply.error?.type]).toEqual([command[0], 'payload_unreadable']);
    }

    const blind = findLostCalls(clientOf(made, {}), taskQueue, server.namespace, journal);
    await expect(blind).rejects.toThrow(/was not rebound.*Paid call.*cannot be read.*external storage/);
    await rm(dir, { recursive: true });
    const away = findLostCalls(clientOf(made), taskQueue, server.namespace, journal);
    await expect(away).rejects.toThrow(/was not rebound.*Paid call.*cannot be read.*ENOENT/);
  });
});
