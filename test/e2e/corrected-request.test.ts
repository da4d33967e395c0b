import { CreationKeyConflictError } from '../../src/client';
import { accepted, received } from '../support/accepted';
import { sharedStack } from '../support/shared-stack';

/** "Fix the parameters, then retry": a refusal is the answer to one request and not to its key. */
describe('an id whose request the service refused', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  const request = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });

  async function refuse(operation: 'create' | 'generate', prompt: string, times?: number): Promise<void> {
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      {
        operation,
        promptIncludes: prompt,
        ...(times !== undefined && { times }),
        action: { type: 'status', status: 400 },
      },
    ]);
  }

  it.concurrent('[C7.1] takes the corrected request, whose video is never handed to whoever asks for the first one', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('order');
    const [wrong, corrected] = ['a clip of 400 seconds', 'a clip of 2 seconds'];
    await refuse('create', wrong);
    const first = await (await media.startVideo({ request: request(wrong) }, { id })).result();
    expect(first).toMatchObject({ outcome: 'rejected', reason: 'invalid_request', sends: 1 });
    const second = await media.startVideo({ request: request(corrected) }, { id });
    expect(await second.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(await stack(), corrected)).toBe(1);
    const asked = media.startVideo({ request: request(wrong), again: true }, { id });
    await expect(asked).rejects.toThrow(CreationKeyConflictError);
    const same = await media.startVideo({ request: request(corrected) }, { id });
    expect([same.isNew, (await same.result()).outcome]).toEqual([false, 'completed']);
    expect(await received(await stack(), wrong)).toBe(1);
    expect(await received(await stack(), corrected)).toBe(1);
  });

  it.concurrent('[C7.1] sends the same request again only where a person says so', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('order');
    const prompt = 'refused by mistake';
    await refuse('create', prompt, 1);
    const first = await (await media.startVideo({ request: request(prompt) }, { id })).result();
    expect(first).toMatchObject({ outcome: 'rejected', reason: 'invalid_request' });
    const same = await media.startVideo({ request: request(prompt) }, { id });
    expect([same.isNew, await same.result()]).toEqual([false, first]);
    expect(await received(await stack(), prompt)).toBe(1);
    const again = await media.startVideo({ request: request(prompt), again: true }, { id });
    expect(await again.result()).toMatchObject({ outcome: 'completed' });
    // What was bought by that word is what the id stands for from now on.
    const last = await media.startVideo({ request: request(prompt), again: true }, { id });
    expect([last.isNew, (await last.result()).outcome]).toEqual([false, 'completed']);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.1] takes corrected and repeated images too', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('order');
    const image = (prompt: string) => ({ model: 'image-2', prompt });
    const [wrong, corrected] = ['an image with a wrong field', 'an image without it'];
    await refuse('generate', wrong, 2);
    for (const again of [false, true]) {
      const refused = await media.images.start({ request: image(wrong), again }, { id });
      expect(await refused.result()).toMatchObject({ outcome: 'rejected', reason: 'invalid_request' });
    }
    expect(await received(await stack(), wrong)).toBe(2);
    const done = await media.images.start({ request: image(corrected) }, { id });
    expect(await done.result()).toMatchObject({ outcome: 'completed' });
    expect(await accepted(await stack(), corrected)).toBe(1);
  });

  it.concurrent('[C4.4a] is free for the corrected request when nothing had left, and then belongs to it', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('freed');
    const prompt = 'a request that is corrected before it leaves';
    const request = { model: 'sketch-lite', prompt };
    const refused = await (
      await media.startVideo({ request: { ...request, durationSeconds: 99 } }, { id })
    ).result();
    expect(refused).toMatchObject({ outcome: 'rejected', reason: 'invalid_request', sends: 0 });
    const completed = await (await media.startVideo({ request }, { id })).result();
    expect(completed).toMatchObject({ outcome: 'completed' });
    await expect(media.startVideo({ request: { ...request, prompt: 'another' } }, { id })).rejects.toThrow(
      'belongs to another request',
    );
    expect(await accepted(await stack(), prompt)).toBe(1);
  });
});
