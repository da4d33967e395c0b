import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from '@readme/openapi-parser';
import { sandboxModels } from '../../../packages/sandbox/src';
import { openapiDocument } from '../../../packages/sandbox/src/openapi/document';
import { multipartBody, type TestPart } from './multipart-body';
import { openapiSchemas } from './openapi-schema';
import { jsonOf, postJson, rawCall, type RawReply } from './raw-call';
import { runSandbox, type RunningSandbox } from './running-sandbox';

const modes = ['strict', 'compat'] as const;
const videoModels = sandboxModels.models.filter((one) => one.kind === 'video').map((one) => one.id);

describe.each(modes)('the OpenAPI document of %s mode', (mode) => {
  let sandbox: RunningSandbox;
  const schemas = openapiSchemas(mode);
  beforeAll(async () => {
    sandbox = await runSandbox({ mode, forbiddenKeys: ['guest-key'] });
  });
  afterEach(() => sandbox.admin.reset());
  afterAll(() => sandbox.close());

  /** Fails unless the reply is one that the document describes; gives its body. */
  const described = (path: string, method: 'get' | 'post', reply: RawReply): Record<string, unknown> => {
    const body = jsonOf(reply);
    const wrong = schemas.reply(path, method, reply.status ?? 0, body);
    expect({ path, status: reply.status, wrong, ...(wrong.length > 0 ? { body } : {}) }).toEqual({
      path,
      status: reply.status,
      wrong: [],
    });
    return body;
  };
  const poll = async (id: string, key?: string): Promise<Record<string, unknown>> =>
    described('/v1/videos/{task_id}', 'get', await rawCall(sandbox.taskUrl(id), key ? { key } : {}));

  test('is valid, is the one in docs, and is served with the address of this sandbox', async () => {
    expect(await validate(openapiDocument(mode) as never)).toMatchObject({ valid: true, warnings: [] });
    const kept = readFileSync(join(__dirname, '../../../docs/openapi', `${mode}.json`), 'utf8');
    // When this fails: npm run build, then node scripts/write-openapi.js.
    expect(JSON.parse(kept)).toEqual(openapiDocument(mode));
    const served = jsonOf(await rawCall(`${sandbox.adminUrl}/openapi.json`, { key: null }));
    expect(served).toEqual(openapiDocument(mode, sandbox.url));
  });

  test.each(videoModels)('describes every record of %s, from the create to each end', async (model) => {
    const prompts = ['moderation', 'capacity', 'invalid', 'quota', 'unknown'].flatMap((kind) =>
      Array<string>(5).fill(`x [fail:${kind}]`),
    );
    // As many successes as there are places of the result URL.
    for (const prompt of [...prompts, ...Array<string>(14).fill('x'), 'x [run:60s]', 'x [queue:60s]']) {
      const created = described('/v1/videos', 'post', await sandbox.create({ model, prompt }));
      const record = await poll(String(created.id));
      expect(schemas.reply('/v1/videos/{task_id}', 'get', 200, { ...record, invented: 1 })).not.toEqual([]);
    }
  });

  test('describes the errors of every operation', async () => {
    for (const model of videoModels) {
      const wrong = { model, prompt: 'x', seconds: 7.5, duration: 7.5 };
      described('/v1/videos', 'post', await sandbox.create(wrong));
      const id = await sandbox.newTask({ model, seconds: undefined, prompt: '[run:60s]' });
      const content = await rawCall(`${sandbox.taskUrl(id)}/content`);
      described('/v1/videos/{task_id}/content', 'get', content);
      await sandbox.admin.patchTask(id, { status: 'failed', failure: {} });
      const failed = await rawCall(`${sandbox.taskUrl(id)}/content`);
      expect(failed.status).toBe(422);
      described('/v1/videos/{task_id}/content', 'get', failed);
      for (const status of [408, 429, 500, 502, 503]) {
        await sandbox.admin.addFaults([{ operation: 'poll', action: { type: 'status', status } }]);
        await poll(id);
      }
    }
    await poll('x');
    await poll('video_0123456789');
    for (const key of ['wrong', 'guest-key']) await poll('video_0123456789', key);
  });

  test('describes image replies in both forms', async () => {
    for (const model of ['image-2', 'image-2 4K']) {
      const size = model === 'image-2' ? '512x512' : '2880x2880';
      const image: TestPart = { name: 'image', content: 'a', filename: 'a.png' };
      const texts = Object.entries({ model, prompt: 'x', size }).map(([name, content]) => ({
        name,
        content,
      }));
      const { body, headers } = multipartBody([...texts, image]);
      const edit = await rawCall(`${sandbox.url}/v1/images/edits`, { method: 'POST', body, headers });
      expect(described('/v1/images/edits', 'post', edit)).toHaveProperty('data.length', 1);
      for (const response_format of ['url', 'b64_json', 'png']) {
        const request = { model, prompt: 'x', size, response_format };
        const reply = await postJson(`${sandbox.url}/v1/images/generations`, request);
        described('/v1/images/generations', 'post', reply);
      }
    }
    described('/generated/{file}', 'get', await rawCall(`${sandbox.url}/generated/none.png`));
  });

  test('names every path that the sandbox serves, and none that it does not', async () => {
    const { paths } = openapiDocument(mode) as { paths: Record<string, object> };
    for (const [path, methods] of Object.entries(paths)) {
      const method = 'post' in methods ? 'POST' : 'GET';
      await rawCall(
        sandbox.url + path.replace('{task_id}', 'video_0123456789').replace('{file}', 'none.png'),
        {
          method,
        },
      );
    }
    const seen = (await sandbox.admin.requests()).map((request) => request.operation);
    expect(seen.sort()).toEqual(['content', 'create', 'edit', 'generate', 'generated', 'poll']);
  });
});
