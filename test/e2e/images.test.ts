import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { type SandboxRequest } from '../../packages/sandbox/src';
import { FileArtifactStore } from '../../src/activities';
import { type ArtifactRef, type ImageOutcome } from '../../src/domain';
import { WORKFLOW } from '../../src/domain/names';
import { type ImageGenerationRequest } from '../../src/domain/request';
import { accepted, received } from '../support/accepted';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

describe('images on the real server', () => {
  const stack = sharedStack({});

  async function generate(
    request: Partial<ImageGenerationRequest> & { prompt: string },
  ): Promise<ImageOutcome> {
    const { media } = await stack();
    return (
      await media.images.start({ request: { model: 'image-2', size: '512x512', ...request } })
    ).result();
  }

  /** The stored bytes, read by a decoder that is not ours and by their hash. */
  async function picture({ sha256 }: ArtifactRef): Promise<{ width: number; height: number }> {
    const { config } = await stack();
    const bytes = await readFile(join(config.artifacts, 'sha256', sha256.slice(0, 2), sha256));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
    const { width, height } = PNG.sync.read(bytes);
    return { width, height };
  }

  async function stored(shade: number): Promise<ArtifactRef> {
    const png = new PNG({ width: 64, height: 64 });
    png.data.fill(shade);
    const store = new FileArtifactStore((await stack()).config.artifacts);
    return store.putBuffer(PNG.sync.write(png), { mediaType: 'image/png' });
  }

  it.concurrent.each(['url', 'b64_json'] as const)(
    '[C2.3.6] [C4.9] generates one by %s',
    async (responseFormat) => {
      const prompt = `a lighthouse by ${responseFormat}`;
      const outcome = await generate({ prompt, responseFormat });
      if (outcome.outcome !== 'completed') throw new Error(outcome.outcome);
      expect(outcome).toMatchObject({ created: expect.any(Number) as number, warnings: [] });
      expect(outcome.images).toHaveLength(1);
      expect(await picture(outcome.images[0] as ArtifactRef)).toEqual({ width: 512, height: 512 });
      expect(await accepted(await stack(), prompt)).toBe(1);
    },
  );

  it.concurrent('[C2.5.2] three results come as three, in one call', async () => {
    const prompt = 'three lighthouses';
    const outcome = await generate({ prompt, n: 3 });
    if (outcome.outcome !== 'completed') throw new Error(outcome.outcome);
    expect(new Set(outcome.images.map((image) => image.sha256)).size).toBe(3);
    for (const image of outcome.images) expect(await picture(image)).toEqual({ width: 512, height: 512 });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C2.4.3] edits two images with a mask, in the order given', async () => {
    const { media, sandbox } = await stack();
    const prompt = 'put the first on the second';
    const [first, second, mask] = await Promise.all([stored(200), stored(90), stored(255)]);
    const started = await media.images.start({
      request: {
        model: 'image-2',
        prompt,
        images: [{ artifact: first }, { artifact: second }],
        mask: { artifact: mask },
      },
    });
    const outcome = await started.result();
    if (outcome.outcome !== 'completed') throw new Error(outcome.outcome);
    expect(await picture(outcome.images[0] as ArtifactRef)).toEqual({ width: 1024, height: 1024 });
    const [edit] = await sandbox.admin.requests({ operation: 'edit' });
    const files = edit?.parts
      ?.filter((part) => part.kind === 'file')
      .map(({ name, sha256 }) => ({ name, sha256 }));
    expect(files).toEqual([
      { name: 'image[]', sha256: first?.sha256 },
      { name: 'image[]', sha256: second?.sha256 },
      { name: 'mask', sha256: mask?.sha256 },
    ]);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C7.5] [C8.7] a 429 is sent again after its Retry-After, and accepted once', async () => {
    const prompt = '[http:429:3] a popular lighthouse';
    expect(await generate({ prompt })).toMatchObject({ outcome: 'completed' });
    const [first, second] = await requestsOf(prompt);
    expect([first?.status, second?.status]).toEqual([429, 200]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4a] [C7.6] a lost reply is unconfirmed: accepted once, sent once', async () => {
    const prompt = '[lost-reply] a lighthouse lost at sea';
    expect(await generate({ prompt })).toMatchObject({
      outcome: 'unconfirmed',
      evidence: { model: 'image-2' },
      billing: { state: 'needs_review' },
    });
    expect(await received(await stack(), prompt)).toBe(1);
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('results that cannot be fetched are lost and paid, and never asked for again', async () => {
    const prompt = 'a lighthouse behind a wall';
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'generated', promptIncludes: prompt, times: 0, action: { type: 'status', status: 403 } },
    ]);
    expect(await generate({ prompt, responseFormat: 'url' })).toMatchObject({
      outcome: 'results_lost',
      images: [null],
      reason: 'http_403',
      billing: { state: 'needs_review' },
    });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('without a journal an image call that may be retried is refused before it is sent', async () => {
    const prompt = 'a lighthouse without a book';
    const { server } = await stack();
    const worker = await handMadeWorker(await stack(), { journal: 'none' });
    const outcome: unknown = await worker.runUntil(
      server.client.workflow.execute(WORKFLOW.generateImage, {
        taskQueue: worker.taskQueue,
        workflowId: server.uniqueId('no-journal'),
        args: [{ request: { model: 'image-2', prompt } }],
      }),
    );
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'unsafe_retry_policy', sends: 0 });
    expect(await received(await stack(), prompt)).toBe(0);
  });

  async function requestsOf(prompt: string): Promise<SandboxRequest[]> {
    const requests = await (await stack()).sandbox.admin.requests();
    return requests.filter((request) => (request.json as { prompt?: string } | undefined)?.prompt === prompt);
  }
});
