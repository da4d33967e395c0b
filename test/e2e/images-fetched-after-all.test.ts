import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImageOutcome } from '../../src/domain';
import { loopback, type Loopback } from '../service/loopback-service';
import { makePng } from '../stores/artifacts/make-media';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';

/** A paid image that lies where the worker must not go: it is fetched once the worker may, and nothing is sent again. */
describe('paid images that could not be kept', () => {
  let stack: MediaStack;
  let elsewhere: Loopback;
  let isUp = true;
  beforeAll(async () => {
    stack = await startMediaStack({});
    elsewhere = await loopback(({ url }, response) => {
      if (!isUp) response.writeHead(401).end();
      else if (url.startsWith('/generated/')) response.end(makePng(4, url.includes('second') ? 5 : 3));
      else response.writeHead(404).end();
    });
  });
  afterAll(async () => {
    await stack.stop();
    await elsewhere.close();
  });

  const generate = async (id: string, prompt: string): Promise<ImageOutcome> => {
    const request = { model: 'image-2', prompt, n: 2 };
    return (await stack.media.images.start({ request }, { id })).result();
  };
  const repliesWith = async (prompt: string, data: readonly object[]) =>
    stack.sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: prompt,
        action: { type: 'accept_then_status', status: 200, body: { created: 7, data, usage: { images: 2 } } },
      },
    ]);
  const allowed = { MEDIA_ALLOWED_MEDIA_ORIGINS: '' };
  const filesBelow = async (folder: string): Promise<string> => {
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile());
    return (await Promise.all(files.map((f) => readFile(join(f.parentPath, f.name), 'latin1')))).join('\n');
  };

  it('[C4.4a] [C2.5.3] [C5.4b] are fetched under the same id once their origin is allowed, and stay when the link is dead', async () => {
    const prompt = 'a picture on another private origin';
    const id = stack.server.uniqueId('blocked');
    await repliesWith(prompt, [
      { b64_json: makePng(2, 2).toString('base64') },
      { url: `${elsewhere.origin}/generated/second.png?signature=s3cret-sig` },
    ]);
    const first = await stack.startWorker({ env: allowed });
    const lost = await generate(id, prompt);
    expect(lost).toMatchObject({
      outcome: 'results_lost',
      reason: 'blocked',
      fetchable: true,
      images: [{ mediaType: 'image/png' }, null],
      billing: { state: 'needs_review' },
    });
    const { message } = lost as Extract<ImageOutcome, { outcome: 'results_lost' }>;
    expect(message).toContain(`is at ${elsewhere.origin},`);
    expect(message).toContain(stack.sandbox.url);
    expect(message).toContain('MEDIA_ALLOWED_MEDIA_ORIGINS');
    const { unconfirmed } = await stack.media.reviewJournal({ list: 'unconfirmed', creationKey: id });
    expect(unconfirmed).toMatchObject([{ state: 'results_lost', fetchable: true }]);
    // Nothing has changed: it is looked at again, and nothing is sent.
    expect(await generate(id, prompt)).toMatchObject({ outcome: 'results_lost', reason: 'blocked' });
    expect(elsewhere.seen).toHaveLength(0);
    await first.stop();

    // The key of the account is another by now: that takes nothing from what was paid for.
    const second = await stack.startWorker({
      env: { MEDIA_ALLOWED_MEDIA_ORIGINS: elsewhere.origin, MEDIA_API_KEY: 'rotated-key' },
    });
    const whole = await generate(id, prompt);
    expect(whole).toMatchObject({
      outcome: 'completed',
      created: 7,
      warnings: [],
      billing: { state: 'estimated', usage: { images: 2 } },
    });
    expect(elsewhere.seen.map(({ url }) => url)).toEqual(['/generated/second.png?signature=s3cret-sig']);
    const after = await stack.media.reviewJournal({ list: 'unconfirmed', creationKey: id });
    expect(after.unconfirmed).toEqual([]);
    await second.stop();

    isUp = false;
    const third = await stack.startWorker({ env: { MEDIA_ALLOWED_MEDIA_ORIGINS: elsewhere.origin } });
    expect(await generate(id, prompt)).toEqual(whole);
    expect(elsewhere.seen).toHaveLength(1);
    expect(await accepted(stack, prompt)).toBe(1);
    expect(await filesBelow(stack.dataDir)).not.toContain('s3cret-sig');
    await third.stop();
  });
});
