import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createSandbox, type Sandbox, SandboxAdmin, sandboxModels } from '../../packages/sandbox/src';
import { type VideoModel } from '../../src/domain/model-config';
import { type VideoRequest } from '../../src/domain/request';
import { type MediaClient } from '../../src/service/media-client';
import { wireEditBody, wireGenerationBody, wireVideoBody } from '../../src/service/request-bodies';
import { type WireBuild, type WireFile } from '../../src/service/wire-body';
import { clientOf, send } from './client-under-test';

function built<Body>(build: WireBuild<Body>): Body {
  if (!build.ok) throw new Error(JSON.stringify(build.issues));
  return build.body;
}

/** The sandbox is written from the contract by other hands and validates strictly. */
describe('the client against the sandbox', () => {
  let sandbox: Sandbox;
  let admin: SandboxAdmin;
  let client: MediaClient;

  beforeAll(async () => {
    sandbox = await createSandbox({ pathPrefix: '/proxy/media', timing: { queuedMs: 0, runningMs: 0 } });
    admin = new SandboxAdmin(sandbox.adminUrl);
    client = clientOf(`${sandbox.url}/v1/`, {
      apiKey: () => 'sandbox-key',
      allowedMediaOrigins: [sandbox.mediaUrl],
    });
  });

  afterAll(async () => {
    await client.close();
    await sandbox.close();
  });

  it('[C0.1] [C0.2] [C1.1] creates, polls and downloads a video of every model', async () => {
    for (const model of sandboxModels.models) {
      if (model.kind !== 'video') continue;
      const entry = model as VideoModel;
      const request: VideoRequest = {
        model: model.id,
        prompt: 'a lighthouse',
        ...(entry.durations?.[0] === undefined ? {} : { durationSeconds: entry.durations[0] }),
        ...(entry.resolutions?.[0] === undefined ? {} : { resolution: entry.resolutions[0] }),
        ...(entry.aspectRatios?.[0] === undefined ? {} : { aspectRatio: entry.aspectRatios[0] }),
      };
      const sent = await client.createVideo(built(await wireVideoBody(request, entry, [])), send());
      if (sent.class !== 'accepted') throw new Error(JSON.stringify(sent));
      const polled = await client.getVideo(sent.taskId);
      expect(polled).toMatchObject({ kind: 'record', record: { phase: 'completed' } });
      const urls = [
        client.contentUrl(sent.taskId).href,
        ...(polled.kind === 'record' ? polled.resultUrls : []),
      ];
      const files: string[] = [];
      for (const url of urls) {
        const content = await client.fetchContent({ url: new URL(url) });
        if (content.kind !== 'body') throw new Error(JSON.stringify(content));
        const bytes = await buffer(content.body);
        expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
        files.push(createHash('sha256').update(bytes).digest('hex'));
      }
      expect(new Set(files).size).toBe(1);
    }
  });

  it('[C4.9] [C2.5.3] generates and edits images in both forms', async () => {
    const model = sandboxModels.models.find(({ id }) => id === 'image-2');
    const format = model?.kind === 'image' ? (model.responseFormats ?? []) : [];
    let png: Buffer | undefined;
    for (const responseFormat of format) {
      const body = built(wireGenerationBody({ model: 'image-2', prompt: 'a boat', n: 2, responseFormat }));
      const sent = await client.generateImage(body, send());
      if (sent.class !== 'accepted') throw new Error(JSON.stringify(sent));
      expect(sent.items).toHaveLength(2);
      expect(sent.created).not.toBeNull();
      for (const item of sent.items) {
        if (item.kind === 'b64') png = item.data;
        if (item.kind !== 'url') continue;
        const content = await client.fetchContent({ url: new URL(item.url) });
        png = content.kind === 'body' ? await buffer(content.body) : undefined;
      }
      expect(png?.subarray(1, 4).toString()).toBe('PNG');
    }
    const data = png ?? Buffer.alloc(0);
    const file: WireFile = {
      source: { data },
      mediaType: 'image/png',
      bytes: data.length,
      sha256: createHash('sha256').update(data).digest('hex'),
    };
    for (const files of [[file], [file, file]]) {
      const edit = built(wireEditBody({ model: 'image-2', prompt: 'at night', images: [] }, files));
      expect(await client.editImage(edit, send())).toMatchObject({ class: 'accepted' });
    }
  });

  it('[C5.3] [C0.4] nothing that was sent broke the contract, and the key stayed with the service', async () => {
    const requests = await admin.requests();
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.flatMap((request) => request.violations)).toEqual([]);
    const counters = await admin.counters();
    expect(counters.creates.accepted).toBe(counters.creates.received);
    expect(counters.operations.media.rejected).toBe(0);
    expect(counters.operations.media.accepted).toBeGreaterThan(0);
  });
});
