import { createTemporalMedia } from '../../packages/ai-sdk/src';
import { renderImage } from '../../packages/sandbox/src/render-image';
import { TemporalMediaClient } from '../../src/client';
import { openArtifactStore } from '../../src/stores';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { type AiSdkProcess, startAiSdk } from './support/ai-sdk-process';
import { startCutProxy } from './support/cut-proxy';

const timing = { queuedMs: 0, runningMs: 500 };
const poll = { intervalMs: 250, timeoutMs: 60_000 };
const VIDEO = { duration: 2, aspectRatio: '16:9', poll };

/** As a caller of the AI SDK names a call's id. */
const withId = (id: string, more: object = {}) => ({ providerOptions: { temporalMedia: { id, ...more } } });

describe('the models of the AI SDK', () => {
  let stack: MediaStack;
  let sdk: AiSdkProcess;
  const id = (name: string): string => stack.server.uniqueId(name);

  beforeAll(async () => {
    stack = await startMediaStack({ sandbox: { timing } });
    await stack.startWorker();
    sdk = await startAiSdk(stack);
  });
  afterAll(async () => {
    await sdk.stop();
    await stack.stop();
  });

  test('generateVideo returns the stored video, under the key that the AI SDK minted', async () => {
    const prompt = 'a pier in the rain';
    const reply = await sdk.call('generateVideo', 'cine-1', {
      prompt,
      ...VIDEO,
      fps: 24,
      providerOptions: { temporalMedia: { resolution: '720p', fields: { camera: 'pan' } } },
    });
    expect(reply).toMatchObject({
      files: [{ mediaType: 'video/mp4' }],
      warnings: [
        { type: 'unsupported', feature: 'fps' },
        { type: 'other', message: 'Requested resolution 720p, file 320x180.' },
      ],
      providerMetadata: { temporalMedia: { artifact: { sha256: reply.files?.[0]?.sha256 } } },
    });
    expect(reply.providerMetadata?.temporalMedia['workflowId']).toMatch(/^aisdk_vid_\w+$/);
    expect(JSON.stringify(reply)).not.toMatch(/sandbox-key|pier|http/);
    expect(await accepted(stack, prompt)).toBe(1);
    const sent = (await stack.sandbox.admin.requests({ operation: 'create' })).map(({ json }) => json);
    const body = {
      model: 'cine-1',
      prompt,
      seconds: 2,
      resolution: '720p',
      aspect_ratio: '16:9',
      camera: 'pan',
    };
    expect(sent).toContainEqual(body);
  });

  test('an aborted call starts nothing, and a file that is not media is refused', async () => {
    const aborted = { isAborted: true, maxRetries: 0 };
    const video = await sdk.call('generateVideo', 'cine-1', {
      prompt: 'an aborted kite',
      ...VIDEO,
      ...aborted,
    });
    const image = await sdk.call('generateImage', 'image-2', { prompt: 'an aborted kite', ...aborted });
    expect([video.threw?.name, image.threw?.name]).toEqual(['AbortError', 'AbortError']);
    expect(await received(stack, 'an aborted kite')).toBe(0);
    const secret = Buffer.from('user = admin').toString('base64');
    const text = await sdk.call('generateImage', 'image-2', { prompt: { text: 'a note', images: [secret] } });
    expect(text.threw?.message).toContain('is not an image, a video or audio');
    expect(await received(stack, 'a note')).toBe(0);
  });

  test('a call that is aborted during its start stops waiting', async () => {
    const taskQueue = id('unserved');
    const { client } = stack.server;
    const models = createTemporalMedia({
      media: new TemporalMediaClient(client, { taskQueue }),
      store: await openArtifactStore(stack.config),
    });
    const aborting = new AbortController();
    const image = id('aborted');
    const ending = models.image('image-2').doGenerate({
      ...{ prompt: 'a late kite', n: 1, size: undefined, aspectRatio: undefined, seed: undefined },
      ...{ files: undefined, mask: undefined, ...withId(image), abortSignal: aborting.signal },
    });
    aborting.abort();
    await expect(ending).rejects.toMatchObject({ name: 'AbortError' });
    // Servers since 1.32 run an image without a workflow.
    const inWorkflow = client.workflow.getHandle(image).terminate();
    await inWorkflow.catch(() => client.activity.getHandle(image).terminate('not needed'));
  });

  test('a service that refuses twice with 503 and Retry-After accepts one', async () => {
    const prompt = 'a busy harbor';
    await stack.sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        times: 2,
        action: { type: 'status', status: 503, headers: { 'retry-after': '1' } },
      },
    ]);
    expect(await sdk.call('generateVideo', 'cine-1', { prompt, ...VIDEO })).toMatchObject({
      files: [{ mediaType: 'video/mp4' }],
    });
    expect([await received(stack, prompt), await accepted(stack, prompt)]).toEqual([3, 1]);
  });

  test("a lost reply of the service is sent once and reported; repeating it, or another id, doesn't buy", async () => {
    const prompt = 'a lost lighthouse';
    await stack.sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        times: 0,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const options = { prompt, ...VIDEO, ...withId(id('lost')) };
    const first = await sdk.call('generateVideo', 'cine-1', options);
    expect(first.threw).toMatchObject({ attempts: 1 });
    expect(first.threw?.message).toMatch(/^unconfirmed: .*temporal-media unconfirmed/);
    expect(first.threw?.message).not.toContain(prompt);
    const again = await sdk.call('generateVideo', 'cine-1', options);
    expect(again.threw?.message).toMatch(/^unconfirmed: /);
    const minted = await sdk.call('generateVideo', 'cine-1', { prompt, ...VIDEO });
    expect(minted.threw?.message).toMatch(/^rejected\/unconfirmed_open: /);
    expect([await received(stack, prompt), await accepted(stack, prompt)]).toEqual([1, 1]);
  });

  test('the AI SDK repeats a start whose reply from Temporal was lost, and attaches to it', async () => {
    const prompt = 'a cut connection';
    const proxy = await startCutProxy(stack.server.address);
    const behind = await startAiSdk(stack, proxy.address);
    try {
      proxy.holdReplies();
      const ending = behind.call('generateVideo', 'cine-1', { prompt, ...VIDEO });
      await eventually('the create', async () => (await accepted(stack, prompt)) === 1);
      proxy.cut();
      expect(await ending).toMatchObject({ files: [{ mediaType: 'video/mp4' }] });
    } finally {
      await behind.stop();
      await proxy.close();
    }
    expect([await received(stack, prompt), await accepted(stack, prompt)]).toEqual([1, 1]);
  });

  test('a process that dies after the start loses nothing: another reads the operation', async () => {
    const prompt = 'a killed caller';
    const first = await startAiSdk(stack);
    const { operation } = await first.call('startVideo', 'cine-1', { prompt, duration: 2 });
    await first.stop();
    const reply = await eventually('the video', async () => {
      const status = await sdk.call('getVideoStatus', 'cine-1', { operation });
      return status.status === 'pending' ? undefined : status;
    });
    expect(reply).toMatchObject({ status: 'completed', files: [{ mediaType: 'video/mp4' }] });
    expect(await accepted(stack, prompt)).toBe(1);
  });

  test('reading the status of an unknown operation starts nothing', async () => {
    const before = (await stack.sandbox.admin.counters()).creates.received;
    const operation = id('nobody');
    const reply = await sdk.call('getVideoStatus', 'cine-1', { operation });
    expect(reply).toMatchObject({ status: 'error' });
    expect(reply.error).toContain(`No video has the id "${operation}"`);
    expect((await stack.sandbox.admin.counters()).creates.received).toBe(before);
  });

  test('an id buys one request: another prompt, a second video and a misspelled option are refused', async () => {
    const one = id('one');
    const options = { prompt: 'a red kite', ...VIDEO, ...withId(one) };
    expect(await sdk.call('generateVideo', 'cine-1', options)).toHaveProperty('files.length', 1);
    const before = (await stack.sandbox.admin.counters()).creates.received;
    const other = await sdk.call('generateVideo', 'cine-1', { ...options, prompt: 'a blue kite' });
    expect(other.threw?.message).toContain('belongs to another request');
    const two = await sdk.call('generateVideo', 'cine-1', { ...options, n: 2 });
    expect(two.threw?.message).toContain('One call creates one video.');
    const wrong = { ...options, ...withId(one, { acount: 'b' }) };
    expect((await sdk.call('generateVideo', 'cine-1', wrong)).threw?.message).toContain('acount');
    expect((await stack.sandbox.admin.counters()).creates.received).toBe(before);
  });

  test("a value that the model doesn't allow is refused before it is sent", async () => {
    const reply = await sdk.call('generateVideo', 'cine-1', { prompt: 'too long', poll, duration: 3 });
    expect(reply.threw).toMatchObject({ attempts: 1 });
    expect(reply.threw?.message).toMatch(/^rejected\/invalid_request: .*durationSeconds/);
    expect(await received(stack, 'too long')).toBe(0);
  });

  test('generateImage: all images in one call; the same id returns them again and buys once', async () => {
    const prompt = 'two cups';
    const options = { prompt, n: 2, size: '512x512', ...withId(id('cups')) };
    const reply = await sdk.call('generateImage', 'image-2', options);
    expect(reply).toHaveProperty('files.length', 2);
    expect((await sdk.call('generateImage', 'image-2', options)).files).toEqual(reply.files);
    expect(await accepted(stack, prompt)).toBe(1);
  });

  test('generateImage without an id buys once for each call, and its lost reply is not repeated', async () => {
    const prompt = 'a lost cup';
    await stack.sandbox.admin.addFaults([
      {
        operation: 'generate',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const reply = await sdk.call('generateImage', 'image-2', { prompt });
    expect(reply.threw?.message).toMatch(/^unconfirmed: .*id "image-/);
    expect(await accepted(stack, prompt)).toBe(1);
  });

  test('images of a prompt go through the store: an edit, and a reference of a video', async () => {
    const spec = { kind: 'image', model: 'm', prompt: 'cup', width: 64, height: 64, index: 0 } as const;
    const image = Buffer.from(renderImage({ ...spec, inputs: [] })).toString('base64');
    const edit = { prompt: { text: 'a cup on a table', images: [image] }, ...withId(id('edit')) };
    expect(await sdk.call('generateImage', 'image-2', edit)).toHaveProperty('files.length', 1);
    const turn = { prompt: { text: 'it turns', image }, duration: 3, poll };
    expect(await sdk.call('generateVideo', 'motion-omni', turn)).toHaveProperty('files.length', 1);
  });
});

describe('a service that honors idempotency keys', () => {
  test('a lost reply still returns the one video', async () => {
    const prompt = 'a lost and found boat';
    const stack = await startMediaStack({ sandbox: { timing, idempotency: 'honoured' } });
    const idempotency = { header: 'Idempotency-Key', honoured: true, windowSeconds: 3600 };
    await stack.startWorker({ env: { MEDIA_CREATE_POLICY: JSON.stringify({ idempotency }) } });
    const sdk = await startAiSdk(stack);
    try {
      await stack.sandbox.admin.addFaults([
        {
          operation: 'create',
          promptIncludes: prompt,
          action: { type: 'lose_reply', accepted: true, how: 'reset' },
        },
      ]);
      const reply = await sdk.call('generateVideo', 'cine-1', { prompt, ...VIDEO });
      expect(reply).toHaveProperty('files.length', 1);
      expect([await received(stack, prompt), await accepted(stack, prompt)]).toEqual([2, 1]);
    } finally {
      await sdk.stop();
      await stack.stop();
    }
  });
});
