import { createHash } from 'node:crypto';
import { createSandbox, type Sandbox, SandboxAdmin } from '../../packages/sandbox/src';
import { type VideoModel } from '../../src/domain/model-config';
import { type ResolvedReference, wireVideoBody } from '../../src/service/request-bodies';
import { readModelConfiguration } from '../../src/settings/model-schema';
import { clientOf, jsonBody, send } from './client-under-test';
import { json, loopback } from './loopback-service';

const request = { model: 'cine-1', prompt: 'a kite over "dunes"', durationSeconds: 4, resolution: '480p' };
const data = Buffer.from('\x89PNG\r\n\x1a\nno more than its magic', 'latin1');
const picture: ResolvedReference = {
  kind: 'image',
  source: {
    kind: 'file',
    file: {
      source: { data },
      mediaType: 'image/png',
      sha256: createHash('sha256').update(data).digest('hex'),
      bytes: data.length,
    },
  },
};
const link = (url: string): ResolvedReference => ({ kind: 'video', source: { kind: 'url', url } });
const model: VideoModel = {
  id: 'cine-1',
  kind: 'video',
  createForm: 'multipart',
  references: [
    { kind: 'image', field: 'input_reference', shape: 'string', form: 'file' },
    { kind: 'video', field: 'video_urls[]', shape: 'array', form: 'url' },
  ],
};

async function bodyOf(entry: VideoModel | undefined, references: readonly ResolvedReference[] = []) {
  const built = await wireVideoBody(request, entry, references);
  if (!built.ok) throw new Error(JSON.stringify(built.issues));
  return built.body;
}

describe('a create as a form, where the configuration of the model says so', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox({ mode: 'compat', timing: { queuedMs: 0, runningMs: 0 } });
  });
  afterAll(() => sandbox.close());

  it('[C4.6] stays JSON without that', async () => {
    expect((await bodyOf(undefined)).kind).toBe('json');
    expect((await bodyOf({ id: 'cine-1', kind: 'video' })).kind).toBe('json');
  });

  it('sends text parts first and files after, each under the very name of the configuration', async () => {
    const client = clientOf(sandbox.url, { apiKey: () => 'sandbox-key' });
    const references = [picture, link('https://a.example/1.mp4'), link('https://a.example/2.mp4')];
    const sent = await client.createVideo(await bodyOf(model, references), send());
    await client.close();
    expect(sent).toMatchObject({ class: 'accepted' });
    const admin = new SandboxAdmin(sandbox.adminUrl);
    const [create] = await admin.requests({ operation: 'create' });
    expect(create?.parts?.map(({ name, value, filename }) => [name, value ?? filename])).toEqual([
      ['model', 'cine-1'],
      ['prompt', request.prompt],
      ['seconds', '4'],
      ['resolution', '480p'],
      ['video_urls[]', 'https://a.example/1.mp4'],
      ['video_urls[]', 'https://a.example/2.mp4'],
      ['input_reference', 'image-1.png'],
    ]);
    expect(create?.parts?.at(-1)).toMatchObject({ contentType: 'image/png', bytes: data.length });
    expect((await admin.counters()).creates).toEqual({ received: 1, accepted: 1 });
  });

  it('has one hash for one request, whatever boundary it is sent with', async () => {
    const [one, two] = [await bodyOf(model, [picture]), await bodyOf(model, [picture])];
    expect(one.bodyHash).toBe(two.bodyHash);
    expect((await bodyOf(model)).bodyHash).not.toBe(one.bodyHash);
  });

  it('a reference as a file part needs the form', () => {
    const { createForm: _, ...without } = model;
    const document = (entry: object) => ({ version: 1, models: [entry] });
    expect(readModelConfiguration(document(model))).toMatchObject({ ok: true });
    expect(readModelConfiguration(document(without))).toEqual({
      ok: false,
      message:
        'model "cine-1", references[0].form: file works only in a multipart form. Set createForm to multipart for this model',
    });
  });
});

describe('a server that takes no JSON', () => {
  const missing = { detail: [{ loc: ['body', 'prompt'], msg: 'Field required', type: 'missing' }] };
  it.each([
    [415, {}],
    [400, { error: { message: 'Content-Type must be multipart/form-data' } }],
    [422, missing],
    [400, { error: { message: 'send form data' } }],
    [400, { error: { message: 'send Form-Data' } }],
    [400, { error: { message: 'send formdata' } }],
    [400, { error: { message: 'Missing parameter: model' } }],
  ])('[C7.1] is told apart by its refusal (%s %j): the option is named', async (status, reply) => {
    const service = await loopback((_request, response) => json(response, status, reply));
    const client = clientOf(service.origin);
    const refused = await client.createVideo(jsonBody(), send());
    expect(refused).toMatchObject({ class: 'rejected', reason: 'invalid_request' });
    expect(refused.class === 'rejected' && refused.message).toMatch(
      /^The service rejected the request.* If this service accepts creates only as .*"createForm": "multipart"/,
    );
    const form = await client.createVideo(await bodyOf(model), send());
    expect(form.class === 'rejected' && form.message).not.toContain('createForm');
    await client.close();
    await service.close();
  });

  it.each([
    [400, { error: { message: 'seconds must be 4 or 8' } }],
    [400, { error: { message: 'seconds is required' } }],
    [400, { error: { message: 'this model is too busy for the prompt' } }],
    [400, { error: { message: 'the modelled prompter misses a requirement' } }],
    // Refused for another reason: a form would change nothing.
    [402, { error: { message: 'multipart uploads need credit' } }],
    [403, { error: { message: 'Missing access to this model' } }],
    [429, { error: { code: 'insufficient_quota', message: 'no form data left' } }],
  ])('says nothing of forms where the refusal is another (%s %j)', async (status, reply) => {
    const service = await loopback((_request, response) => json(response, status, reply));
    const client = clientOf(service.origin);
    const refused = await client.createVideo(jsonBody(), send());
    expect(refused).toMatchObject({ class: 'rejected', httpStatus: status });
    expect(JSON.stringify(refused)).not.toContain('createForm');
    await client.close();
    await service.close();
  });

  it('says nothing of forms for a call that has only one form', async () => {
    const service = await loopback((_request, response) => json(response, 415, {}));
    const client = clientOf(service.origin);
    const refused = await client.generateImage(jsonBody(), send());
    expect(refused).toMatchObject({ class: 'rejected', reason: 'invalid_request' });
    expect(refused.class === 'rejected' && refused.message).toMatch(/send a corrected request\.$/);
    await client.close();
    await service.close();
  });
});
