import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type VideoModel } from '../../src/domain/model-config';
import { type ImageEditRequest, type VideoRequest } from '../../src/domain/request';
import {
  type ResolvedReference,
  wireEditBody,
  wireGenerationBody,
  wireVideoBody,
} from '../../src/service/request-bodies';
import { type WireFile, type WireJsonBody, type WireMultipartBody } from '../../src/service/wire-body';

const request: VideoRequest = { model: 'image-2 4K', prompt: 'a /home/x path in a prompt is free text' };
const model = (more: Partial<VideoModel>): VideoModel => ({ id: 'm', kind: 'video', ...more });
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const file: WireFile = {
  source: { data: PNG },
  mediaType: 'image/png',
  bytes: PNG.length,
  sha256: createHash('sha256').update(PNG).digest('hex'),
};
const url = (address: string, more: Partial<ResolvedReference> = {}): ResolvedReference => ({
  kind: 'image',
  source: { kind: 'url', url: address },
  ...more,
});
const bytes: ResolvedReference = { kind: 'image', source: { kind: 'file', file } };

function jsonOfBody(body: WireJsonBody | WireMultipartBody): object {
  if (body.kind !== 'json') throw new Error('expected a JSON body');
  return body.json;
}

async function jsonOf(
  more: Partial<VideoRequest>,
  entry?: VideoModel,
  references: readonly ResolvedReference[] = [],
): Promise<object> {
  const built = await wireVideoBody({ ...request, ...more }, entry, references);
  return built.ok ? jsonOfBody(built.body) : { issues: built.issues.map(({ field }) => field) };
}

describe('the body of a video create', () => {
  it('[C2.1.6] [C0.3] holds model and prompt as given, and nothing that was not given', async () => {
    const built = await wireVideoBody(request, undefined, []);
    expect(built.ok && jsonOfBody(built.body)).toEqual(request);
    expect(built.ok && built.body).toMatchObject({ text: JSON.stringify(request) });
    const hash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
    expect(built.ok && built.body.bodyHash).toBe(hash);
  });

  it('[C2.1.2] [C2.1.3] duration goes under exactly one name, in the form of the model', async () => {
    const given = { durationSeconds: 4, resolution: '720p', aspectRatio: '16:9' };
    const rest = { ...request, resolution: '720p', aspect_ratio: '16:9' };
    expect(await jsonOf(given)).toEqual({ ...rest, seconds: 4 });
    expect(await jsonOf(given, model({ durationField: 'duration' }))).toEqual({ ...rest, duration: 4 });
    expect(await jsonOf(given, model({ durationForm: 'string' }))).toEqual({ ...rest, seconds: '4' });
  });

  it('[C2.1.4] [C2.1.5] references go under the field and in the form of the configuration', async () => {
    const base64 = PNG.toString('base64');
    const entry = (shape: 'array' | 'string', form: 'url' | 'data_url' | 'base64'): VideoModel =>
      model({ references: [{ kind: 'image', field: 'ref', shape, form }] });
    expect(await jsonOf({}, entry('array', 'url'), [url('https://a/1'), url('https://a/2')])).toMatchObject({
      ref: ['https://a/1', 'https://a/2'],
    });
    expect(await jsonOf({}, entry('string', 'url'), [url('https://a/1')])).toMatchObject({
      ref: 'https://a/1',
    });
    expect(await jsonOf({}, entry('string', 'data_url'), [bytes])).toMatchObject({
      ref: `data:image/png;base64,${base64}`,
    });
    expect(await jsonOf({}, entry('array', 'base64'), [bytes])).toMatchObject({ ref: [base64] });
    expect(await jsonOf({}, entry('array', 'url'), [bytes])).toEqual({ issues: ['references[0].source'] });
    expect(await jsonOf({}, entry('array', 'base64'), [url('https://a/1')])).toEqual({
      issues: ['references[0].source'],
    });
    expect(await jsonOf({}, entry('string', 'url'), [url('https://a/1'), url('https://a/2')])).toEqual({
      issues: ['references'],
    });
  });

  it('[C2.1.5] nothing is assumed where the configuration is silent or has several fields', async () => {
    const entry = model({
      references: [
        { kind: 'image', field: 'first_frame', shape: 'string', form: 'url' },
        { kind: 'image', field: 'last_frame', shape: 'string', form: 'url' },
        { kind: 'video', field: 'videos', shape: 'array', form: 'url', max: 1 },
      ],
    });
    expect(await jsonOf({}, undefined, [url('https://a/1')])).toEqual({ issues: ['references[0]'] });
    expect(await jsonOf({}, entry, [url('https://a/1')])).toEqual({ issues: ['references[0]'] });
    expect(await jsonOf({}, entry, [url('https://a/1', { kind: 'audio' })])).toEqual({
      issues: ['references[0]'],
    });
    expect(await jsonOf({}, entry, [url('https://a/1', { field: 'other' })])).toEqual({
      issues: ['references[0]'],
    });
    const both = [url('https://a/1', { field: 'last_frame' }), url('https://a/2', { field: 'first_frame' })];
    expect(await jsonOf({}, entry, both)).toMatchObject({
      last_frame: 'https://a/1',
      first_frame: 'https://a/2',
    });
    const two = [url('https://a/1', { kind: 'video' }), url('https://a/2', { kind: 'video' })];
    expect(await jsonOf({}, entry, two)).toEqual({ issues: ['references'] });
  });

  it('several kinds may share one list', async () => {
    const shared = (kind: 'image' | 'video') =>
      ({ kind, field: 'refs', shape: 'array', form: 'url' }) as const;
    const entry = model({ references: [shared('image'), shared('video')] });
    const references = [url('https://a/1'), url('https://a/2', { kind: 'video' })];
    expect(await jsonOf({}, entry, references)).toMatchObject({ refs: ['https://a/1', 'https://a/2'] });
  });

  it('raw fields are added as they are, null left out', async () => {
    const fields = { seed: 7, camera: { pan: 'left' }, none: null };
    expect(await jsonOf({ fields })).toEqual({ ...request, seed: 7, camera: { pan: 'left' } });
  });

  it.each(['model', 'prompt', 'seconds', 'duration', 'resolution', 'aspect_ratio'])(
    'a raw %s would contradict the request',
    async (name) => {
      expect(await jsonOf({ fields: { [name]: 'x' } })).toEqual({ issues: [`fields.${name}`] });
    },
  );

  it('a raw field never replaces a reference', async () => {
    const entry = model({ references: [{ kind: 'image', field: 'ref', shape: 'string', form: 'url' }] });
    expect(await jsonOf({ fields: { ref: 'https://b/1' } }, entry, [url('https://a/1')])).toEqual({
      issues: ['fields.ref'],
    });
  });

  it.each([
    '/home/x/a.png',
    '/x',
    './a.png',
    '../a.png',
    '~/a.png',
    'C:\\a.png',
    'c:/a.png',
    '\\\\host\\a',
    'file:///a',
    ' /a',
    'a.png',
    'dir/a.mp4',
  ])('[C2.4.6] the local path %j is refused wherever it stands', async (path) => {
    expect(await jsonOf({ fields: { a: path } })).toEqual({ issues: ['fields.a'] });
    expect(await jsonOf({ fields: { a: [{ b: path }] } })).toEqual({ issues: ['fields.a'] });
    const issue = await wireVideoBody({ ...request, fields: { a: path } }, undefined, []);
    expect(JSON.stringify(issue)).not.toContain(JSON.stringify(path));
  });

  it.each([
    'https://a.example/a.png',
    '16:9',
    'left',
    'a prompt with a.png in it',
    'data:image/png;base64,AA',
  ])('%j is no local path', async (text) => {
    expect(await jsonOf({ fields: { a: text } })).toMatchObject({ a: text });
  });

  it('the same request has the same hash, another one another', async () => {
    const hash = async (prompt: string): Promise<string> => {
      const built = await wireVideoBody({ model: 'm', prompt }, undefined, []);
      return built.ok ? built.body.bodyHash : '';
    };
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (a, b) => {
        expect((await hash(a)) === (await hash(b))).toBe(a === b);
      }),
    );
  });
});

describe('the bodies of image calls', () => {
  it('[C1.4] [C2.1.6] a generation has the names of the images API', () => {
    const built = wireGenerationBody({
      model: 'image-2',
      prompt: 'p',
      size: '1024x1024',
      quality: 'high',
      n: 2,
      responseFormat: 'b64_json',
    });
    expect(built.ok && built.body.text).toBe(
      '{"model":"image-2","prompt":"p","size":"1024x1024","quality":"high","n":2,"response_format":"b64_json"}',
    );
    const bare = wireGenerationBody({ model: 'image-2', prompt: 'p' });
    expect(bare.ok && bare.body.json).toEqual({ model: 'image-2', prompt: 'p' });
  });

  it('quality, response_format and the like may be given as raw fields', () => {
    const built = wireGenerationBody({ model: 'm', prompt: 'p', fields: { quality: 'high' } });
    expect(built.ok && built.body.json).toEqual({ model: 'm', prompt: 'p', quality: 'high' });
    expect(
      wireGenerationBody({ model: 'm', prompt: 'p', quality: 'low', fields: { quality: 'high' } }).ok,
    ).toBe(false);
  });

  const edit: ImageEditRequest = { model: 'image-2', prompt: 'p', images: [] };

  it('[C2.4.4] an edit without a file has no body, and files are no raw fields', () => {
    expect(wireEditBody(edit, []).ok).toBe(false);
    for (const name of ['image', 'image[]', 'mask'])
      expect(wireEditBody({ ...edit, fields: { [name]: 'x' } }, [file]).ok).toBe(false);
  });

  it('the hash of an edit depends on its parts, not on where the files are', () => {
    const hash = (prompt: string, files: WireFile[]): string => {
      const built = wireEditBody({ ...edit, prompt }, files);
      return built.ok ? built.body.bodyHash : '';
    };
    const elsewhere = { ...file, source: { path: '/somewhere/else.png' } };
    const other = { ...file, sha256: 'f'.repeat(64) };
    expect(hash('p', [elsewhere])).toBe(hash('p', [file]));
    expect(
      new Set([hash('p', [file]), hash('q', [file]), hash('p', [other]), hash('p', [file, file])]).size,
    ).toBe(4);
    expect(hash('p', [file, other])).not.toBe(hash('p', [other, file]));
  });
});
