import { environmentConnections } from '../../src/service/connections';
import { createMediaClient } from '../../src/service/create-media-client';
import { accountName } from '../../src/service/endpoint';
import { makePng } from '../stores/artifacts/make-media';
import { type ContractBench, KEY, openBench } from './contract-bench';

/** Contract 9 over the wire. */
describe('versions', () => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await openBench({ sandbox: { pathPrefix: '/a/v1beta' } });
  });
  afterEach(() => bench.reset());
  afterAll(() => bench.close());

  test.each(['', '/', '/v1', '/v1/', '/V1', '//'])(
    '[C9.1] [C0.2] the base address ending in %j asks below the prefix and /v1 once',
    async (ending) => {
      const { video } = await bench.created({ durationSeconds: 2 });
      const baseUrl = `${bench.sandbox.url}${ending}`;
      const client = createMediaClient({
        baseUrl,
        apiKey: () => KEY,
        allowedMediaOrigins: [bench.sandbox.mediaUrl],
        connectionFactory: environmentConnections({}),
      });
      expect(await client.getVideo(video.taskId)).toMatchObject({ kind: 'record', httpStatus: 200 });
      const content = await client.fetchContent({ url: client.contentUrl(video.taskId) });
      expect(content.kind).toBe('body');
      await client.close();
      // One service under any spelling: a changed ending must not look like another account.
      expect(accountName('default', baseUrl)).toBe(bench.account);
      const [, poll, download] = await bench.seen();
      expect(poll?.path).toBe(`/a/v1beta/v1/videos/${video.taskId}`);
      expect(download?.path).toBe(`/a/v1beta/v1/videos/${video.taskId}/content`);
    },
  );

  const unknown = {
    api_version: '9.9',
    object: 'new.object',
    deprecated: true,
    nested: { deep: [{ even: 'deeper' }] },
    Status: 'failed',
    progress_pct: 3,
    ['__proto__x']: null,
  };

  test('[C9.2] unknown fields of a create reply and of a record never break reading them', async () => {
    const body = { id: 'task-of-tomorrow', status: 'queued', ...unknown, links: [1, 2] };
    await bench.fault('create', { type: 'accept_then_status', status: 201, body });
    expect(await bench.create({})).toMatchObject({
      outcome: 'created',
      status: 'queued',
      video: { taskId: 'task-of-tomorrow' },
    });
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.fault('poll', { type: 'record', patch: { ...unknown, ['__proto__x']: 1 } }, { times: 2 });
    expect(await bench.poll(video)).toMatchObject({ record: { phase: 'completed', progress: 100 } });
    expect((await bench.download(video)).result.outcome).toBe('downloaded');
  });

  test('[C9.2] unknown fields of an image response never break reading it', async () => {
    const item = { b64_json: makePng(2, 3).toString('base64'), revised_prompt: 'x', ...unknown };
    const body = { created: 1_700_000_000, data: [item, item], ...unknown, background: 'opaque' };
    await bench.fault('generate', { type: 'accept_then_status', status: 200, body });
    const outcome = await bench.generate({ n: 2 });
    expect(outcome).toMatchObject({ outcome: 'completed', created: 1_700_000_000, warnings: [] });
  });

  test('[C9.2] no version is negotiated', async () => {
    const { video } = await bench.created({ durationSeconds: 2 });
    await bench.poll(video);
    await bench.download(video);
    await bench.generate({});
    for (const { headerNames, headers, path, query } of await bench.seen()) {
      expect(headerNames.filter((name) => /version|beta|preview/i.test(name))).toEqual([]);
      expect(headers['accept'] ?? 'application/json').toBe('application/json');
      expect(Object.keys(query).filter((name) => /version/i.test(name))).toEqual([]);
      expect(path).not.toContain('/v2');
    }
  });
});
