import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { sandboxModels } from '../../packages/sandbox/src';
import { type VideoModel } from '../../src/domain/model-config';
import { type ErrorKind } from '../../src/domain/video-task';
import { type MediaClient } from '../../src/service/media-client';
import { readDataUrl } from '../../src/service/read-data-url';
import { wireGenerationBody, wireVideoBody } from '../../src/service/request-bodies';
import { type WireBuild } from '../../src/service/wire-body';
import { clientOf, send } from '../service/client-under-test';
import { runSandbox, type RunningSandbox } from '../testing/sandbox/running-sandbox';

const videoModels = sandboxModels.models.filter((one) => one.kind === 'video') as VideoModel[];
const kinds: readonly ErrorKind[] = ['moderation', 'capacity', 'invalid', 'quota', 'unknown'];

function built<Body>(build: WireBuild<Body>): Body {
  if (!build.ok) throw new Error(JSON.stringify(build.issues));
  return build.body;
}

/** Every dialect of the sandbox: other words, relative and embedded results, three shapes of errors. */
describe('our client against the sandbox in compat mode', () => {
  let sandbox: RunningSandbox;
  let client: MediaClient;
  beforeAll(async () => {
    sandbox = await runSandbox({ mode: 'compat', pathPrefix: '/proxy/media' });
    client = clientOf(sandbox.url, { apiKey: () => 'sandbox-key', allowedMediaOrigins: [sandbox.mediaUrl] });
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(async () => {
    await client.close();
    await sandbox.close();
  });

  const create = async (model: VideoModel, prompt: string): Promise<string> => {
    const sent = await client.createVideo(
      built(await wireVideoBody({ model: model.id, prompt }, model, [])),
      send(),
    );
    if (sent.class !== 'accepted') throw new Error(JSON.stringify(sent));
    return sent.taskId;
  };
  const phaseOf = async (id: string): Promise<unknown> => {
    const polled = await client.getVideo(id);
    return polled.kind === 'record' ? polled.record.phase : polled;
  };

  test.each(videoModels)(
    '[C2.2.2] [C2.2.7] $id: every state is understood, every result is the video',
    async (model) => {
      const id = await create(model, 'a lighthouse [queue:60s] [run:60s]');
      const phases: unknown[] = [];
      for (const age of [1_000, 90_000, 150_000]) {
        await sandbox.admin.patchTask(id, { createdAt: Date.now() - age });
        phases.push(await phaseOf(id));
      }
      expect(phases).toEqual(['queued', 'in_progress', 'completed']);
      const polled = await client.getVideo(id);
      const urls = polled.kind === 'record' ? polled.resultUrls : [];
      expect(urls).toHaveLength(model.id === 'cine-1' ? 0 : 1);
      const files = new Set<string>();
      for (const url of [client.contentUrl(id).href, ...urls]) {
        const data = url.startsWith('data:') ? readDataUrl(url, 1e8) : undefined;
        const content = data === undefined ? await client.fetchContent({ url: new URL(url) }) : undefined;
        if (data === undefined && content?.kind !== 'body') throw new Error(JSON.stringify(content));
        const bytes = data ?? (content?.kind === 'body' ? await buffer(content.body) : Buffer.alloc(0));
        files.add(createHash('sha256').update(bytes).digest('hex'));
      }
      expect(files.size).toBe(1);
    },
  );

  test.each(videoModels)(
    '[C2.2.8] [C7.8] $id: every failure has its kind, whatever its shape and status',
    async (model) => {
      for (const kind of kinds) {
        for (const _ of [1, 2, 3, 4, 5]) {
          const id = await create(model, `x [fail:${kind}]`);
          expect(await client.getVideo(id)).toMatchObject({
            kind: 'record',
            record: { phase: 'failed', error: { kind } },
          });
        }
      }
    },
  );

  test.each(videoModels)(
    '[C7.13] $id: a refused create is rejected in every shape of an error',
    async (model) => {
      const body = built(
        await wireVideoBody({ model: model.id, prompt: 'x', resolution: '9p' }, undefined, []),
      );
      const sent = await client.createVideo(body, send());
      // One model takes any resolution.
      const expected = {
        class: 'rejected',
        reason: 'invalid_request',
        httpStatus: 400,
        error: { kind: 'invalid' },
      };
      expect(sent).toMatchObject(model.id === 'open-canvas' ? { class: 'accepted' } : expected);
    },
  );

  test('[C2.5.2] images come with null keys, and from relative addresses', async () => {
    for (const [model, size] of Object.entries({ 'image-2': '512x512', 'image-2 4K': '2880x2880' })) {
      const sent = await client.generateImage(
        built(wireGenerationBody({ model, prompt: 'a boat', size })),
        send(),
      );
      if (sent.class !== 'accepted') throw new Error(JSON.stringify(sent));
      expect(sent.items).toHaveLength(1);
      const [item] = sent.items;
      const content = item?.kind === 'url' && (await client.fetchContent({ url: new URL(item.url) }));
      if (!content || content.kind !== 'body') throw new Error(JSON.stringify(item));
      expect((await buffer(content.body)).subarray(1, 4).toString()).toBe('PNG');
    }
  });
});
