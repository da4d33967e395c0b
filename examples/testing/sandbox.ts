import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandboxProcess } from '@temporal-media/sandbox';
import { startTemporalServer } from '@temporal-media/testing';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { filmWorker } from '../plugin/worker';
import { productFilm } from '../plugin/workflows';

test('buys a film from the sandbox once, even if the first poll fails', async () => {
  const [server, sandbox] = await Promise.all([startTemporalServer(), startSandboxProcess()]);
  const dir = await mkdtemp(join(tmpdir(), 'films-'));
  const connection = await NativeConnection.connect({ ...server.connection, address: server.address });
  try {
    const { namespace } = server;
    const taskQueue = `films-${Math.random()}`;
    const env = {
      MEDIA_BASE_URL: sandbox.url,
      MEDIA_API_KEY: 'sandbox-key',
      MEDIA_MODELS: sandbox.modelsUrl,
      MEDIA_ALLOWED_MEDIA_ORIGINS: new URL(sandbox.mediaUrl).origin,
      MEDIA_DATA_DIR: dir,
    };
    await sandbox.admin.addFaults([{ operation: 'poll', times: 1, action: { type: 'status', status: 503 } }]);
    const worker = await filmWorker({ connection, namespace, taskQueue }, env);
    const { workflow } = new Client({ connection, namespace });
    const options = { taskQueue, workflowId: taskQueue, args: ['a teapot'] as [string] };
    const file = await worker.runUntil(workflow.execute(productFilm, options));
    expect(file).toContain(dir);
    expect((await sandbox.admin.counters()).creates.accepted).toBe(1);
  } finally {
    await connection.close();
    await Promise.all([sandbox.close(), server.stop()]);
    await rm(dir, { recursive: true });
  }
});
