import { type ModelLookup, type VideoModel, validateAgainstModel } from '../../src/domain/model-config';
import { type PaidRequest, type VideoRequest } from '../../src/domain/request';

const video: VideoModel = {
  id: 'video-1',
  kind: 'video',
  references: [{ kind: 'video', field: 'clip', shape: 'string', form: 'base64' }],
  fields: ['seed', 'negative_prompt'],
};
const url = { url: 'https://media.example/cat.mp4' };
const entry = (value: VideoModel): ModelLookup => ({ found: 'entry', entry: value });
const create = (request: Partial<VideoRequest>): PaidRequest => ({
  operation: 'create_video',
  request: { model: 'video-1', prompt: 'p', ...request },
});
const fieldsOf = (paid: PaidRequest, lookup: ModelLookup) =>
  validateAgainstModel(paid, lookup).issues.map(({ field }) => field);

describe('fields, the explicit way out', () => {
  it('[C2.1.5] pass under their own names, also without an entry', () => {
    expect(fieldsOf(create({ fields: { seed: 7 } }), entry(video))).toEqual([]);
    expect(
      fieldsOf(create({ fields: { input_reference: 'https://a.example/x' } }), { found: 'unlisted' }),
    ).toEqual([]);
  });

  it.each(['model', 'prompt', 'seconds', 'duration', 'resolution', 'aspect_ratio', '', '__proto__'])(
    'refuse the name %j, which is covered or none',
    (name) => {
      const fields = JSON.parse(`{${JSON.stringify(name)}: 1}`) as Record<string, number>;
      expect(fieldsOf(create({ fields }), { found: 'unlisted' })).toHaveLength(1);
    },
  );

  it('refuse a field that references already take, and one that the model does not list', () => {
    const clash = create({
      references: [{ kind: 'video', source: url }],
      fields: { clip: 'https://a.example/b' },
    });
    expect(fieldsOf(clash, entry({ ...video, fields: ['clip'] }))).toEqual(['fields.clip']);
    expect(validateAgainstModel(create({ fields: { style: 'x' } }), entry(video)).issues[0]).toMatchObject({
      field: 'fields.style',
      allowed: ['seed', 'negative_prompt'],
    });
  });

  it.each([
    '/etc/passwd',
    '/home/me/cat.png',
    ' /tmp/x',
    'file:///tmp/x',
    'FILE:/x',
    'C:\\cat.png',
    'd:/cat.png',
    '\\\\server\\share\\cat.png',
    '~/cat.png',
    '~me/cat.png',
    './cat.png',
    '../cat.png',
    '//server/cat.png',
  ])('[C2.4.6] refuse the local path %j at any depth', (path) => {
    for (const value of [path, [path], { image: { urls: ['https://a.example', path] } }])
      expect(fieldsOf(create({ fields: { seed: value } }), entry(video))).toEqual(['fields.seed']);
  });

  it.each([
    'https://a.example/cat.png',
    'a cat / a dog',
    '16:9',
    'c:d',
    '~5 seconds',
    'data:image/png;base64,AAAA',
    `/9j/4AAQ${'SkZJRgABAQ'.repeat(20)}==`,
  ])('take %j for no path', (text) => {
    expect(fieldsOf(create({ fields: { seed: text } }), entry(video))).toEqual([]);
  });
});
