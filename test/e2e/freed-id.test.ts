import { sharedStack } from '../support/shared-stack';

describe('an id whose request was refused before anything left', () => {
  const stack = sharedStack({}, async (made) => {
    await made.startWorker();
  });

  it('[C4.4a] is free for the corrected request, and then belongs to it', async () => {
    const { media, server, sandbox } = await stack();
    const id = server.uniqueId('freed');
    const request = { model: 'sketch-lite', prompt: 'a corrected request' };
    const refused = await (
      await media.startVideo({ request: { ...request, durationSeconds: 99 } }, { id })
    ).result();
    expect(refused).toMatchObject({ outcome: 'rejected', reason: 'invalid_request', sends: 0 });
    const completed = await (await media.startVideo({ request }, { id })).result();
    expect(completed).toMatchObject({ outcome: 'completed' });
    await expect(media.startVideo({ request: { ...request, prompt: 'another' } }, { id })).rejects.toThrow(
      'belongs to another request',
    );
    expect((await sandbox.admin.counters()).creates.accepted).toBe(1);
  });
});
