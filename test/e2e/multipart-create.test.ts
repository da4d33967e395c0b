import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accepted } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

describe('a service that takes creates as forms', () => {
  const stack = sharedStack(
    { sandbox: { mode: 'compat', timing: { queuedMs: 0, runningMs: 500 } } },
    async (made) => {
      const models = join(made.dataDir, 'models.json');
      const model = { id: 'cine-1', kind: 'video', createForm: 'multipart' };
      await writeFile(models, JSON.stringify({ version: 1, models: [model] }));
      await made.startWorker({ env: { MEDIA_MODELS: models } });
    },
  );

  it('makes a video by one create in multipart/form-data', async () => {
    const { media, sandbox, server } = await stack();
    const prompt = 'a kite of paper parts';
    const started = await media.startVideo(
      { request: { model: 'cine-1', prompt, durationSeconds: 4 } },
      { id: server.uniqueId('form') },
    );
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    const creates = await sandbox.admin.requests({ operation: 'create' });
    expect(creates.map(({ parts }) => parts?.map(({ name, value }) => [name, value]))).toEqual([
      [
        ['model', 'cine-1'],
        ['prompt', prompt],
        ['seconds', '4'],
      ],
    ]);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });
});
