import fc from 'fast-check';
import {
  type ImageModel,
  type ModelLookup,
  type VideoModel,
  validateAgainstModel,
} from '../../src/domain/model-config';
import { type ImageEditRequest, type PaidRequest, type VideoRequest } from '../../src/domain/request';

const artifact = { uri: 'artifact:sha256/0', mediaType: 'image/png', bytes: 1, sha256: '0' };
const file = { file: 'cat.png' };
const url = { url: 'https://media.example/cat.png' };

const video: VideoModel = {
  id: 'video-1',
  kind: 'video',
  durations: [4, 8],
  resolutions: ['720p', '1080p'],
  aspectRatios: ['16:9', '9:16'],
  references: [
    { kind: 'image', field: 'first_frame', shape: 'string', form: 'url' },
    { kind: 'image', field: 'images', shape: 'array', form: 'data_url', max: 2 },
    { kind: 'video', field: 'clip', shape: 'string', form: 'base64' },
  ],
  fields: ['seed', 'negative_prompt'],
};
const image: ImageModel = {
  id: 'image-2',
  kind: 'image',
  sizes: ['1024x1024', 'auto'],
  qualities: ['high'],
  maxN: 4,
  responseFormats: ['url'],
  edit: { mask: true, fields: ['size', 'n'], maxImages: 2 },
};

const entry = (value: VideoModel | ImageModel): ModelLookup => ({ found: 'entry', entry: value });
const create = (request: Partial<VideoRequest>): PaidRequest => ({
  operation: 'create_video',
  request: { model: 'video-1', prompt: 'p', ...request },
});
const generate = (request: Partial<ImageEditRequest>): PaidRequest => ({
  operation: 'generate_image',
  request: { model: 'image-2', prompt: 'p', ...request },
});
const edit = (request: Partial<ImageEditRequest>): PaidRequest => ({
  operation: 'edit_image',
  request: { model: 'image-2', prompt: 'p', images: [file], ...request },
});
const fieldsOf = (paid: PaidRequest, lookup: ModelLookup) =>
  validateAgainstModel(paid, lookup).issues.map(({ field }) => field);

describe('[C8.1] values outside the configuration are refused, with the allowed ones named', () => {
  it.each([
    ['durationSeconds', create({ durationSeconds: 5 }), video, ['4', '8']],
    ['resolution', create({ resolution: '720P' }), video, ['720p', '1080p']],
    ['aspectRatio', create({ aspectRatio: '1:1' }), video, ['16:9', '9:16']],
    ['size', generate({ size: '512x512' }), image, ['1024x1024', 'auto']],
    ['quality', generate({ quality: 'ultra' }), image, ['high']],
    ['n', generate({ n: 5 }), image, undefined],
    ['responseFormat', generate({ responseFormat: 'b64_json' }), image, ['url']],
  ] as const)('%s', (field, paid, model, allowed) => {
    const { issues, validated } = validateAgainstModel(paid, entry(model));
    expect(validated).toBe(true);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ field, ...(allowed ? { allowed } : {}) });
  });

  it('passes the values that are listed', () => {
    expect(
      fieldsOf(create({ durationSeconds: 8, resolution: '720p', aspectRatio: '9:16' }), entry(video)),
    ).toEqual([]);
    expect(
      fieldsOf(generate({ size: 'auto', quality: 'high', n: 4, responseFormat: 'url' }), entry(image)),
    ).toEqual([]);
  });
});

it('[C2.1.2] a duration passes only with a value of the model, and `seconds` or `duration` is not said twice', () => {
  expect(fieldsOf(create({ durationSeconds: 4 }), entry(video))).toEqual([]);
  expect(fieldsOf(create({ durationSeconds: 6 }), entry(video))).toEqual(['durationSeconds']);
  expect(fieldsOf(create({ fields: { seconds: 4 } }), entry(video))).toEqual(['fields.seconds']);
  expect(fieldsOf(create({ fields: { duration: '4' } }), { found: 'unlisted' })).toEqual(['fields.duration']);
});

it('[C2.1.3] resolution and aspect ratio are the values of the model, or left out', () => {
  expect(fieldsOf(create({}), entry(video))).toEqual([]);
  expect(fieldsOf(create({ resolution: '4K', aspectRatio: '21:9' }), entry(video))).toEqual([
    'resolution',
    'aspectRatio',
  ]);
});

it('a list that an entry does not have says nothing', () => {
  const bare = entry({ id: 'video-1', kind: 'video' });
  expect(fieldsOf(create({ durationSeconds: 99, resolution: 'x', fields: { seed: 1 } }), bare)).toEqual([]);
  expect(fieldsOf(create({ durationSeconds: 99 }), entry({ id: 'v', kind: 'video', durations: [] }))).toEqual(
    ['durationSeconds'],
  );
});

describe('references', () => {
  it.each([
    ['a URL where a URL is needed', { kind: 'image', source: url, field: 'first_frame' }, []],
    ['a file where a URL is needed', { kind: 'image', source: file, field: 'first_frame' }, []],
    ['an artifact there', { kind: 'image', source: { artifact }, field: 'first_frame' }, []],
    [
      'data: there',
      { kind: 'image', source: { url: 'data:image/png;base64,AA' }, field: 'first_frame' },
      ['references[0].source'],
    ],
    ['a file as a data URL', { kind: 'image', source: file, field: 'images' }, []],
    ['a URL as Base64', { kind: 'video', source: url }, []],
    ['an artifact as Base64', { kind: 'video', source: { artifact } }, []],
    ['two fields and none named', { kind: 'image', source: url }, ['references[0].field']],
    ['an unknown field', { kind: 'image', source: url, field: 'image_url' }, ['references[0].field']],
    ['a field of another kind', { kind: 'image', source: url, field: 'clip' }, ['references[0].field']],
    ['a kind without a mapping', { kind: 'audio', source: url }, ['references[0].kind']],
  ] as const)('[C2.1.5] %s', (_name, reference, expected) => {
    expect(fieldsOf(create({ references: [reference] }), entry(video))).toEqual(expected);
  });

  it('[C2.1.5] names the fields and kinds that there are', () => {
    const issues = (reference: VideoRequest['references']) =>
      validateAgainstModel(create({ references: reference! }), entry(video)).issues[0];
    expect(issues([{ kind: 'image', source: url }])).toMatchObject({ allowed: ['first_frame', 'images'] });
    expect(issues([{ kind: 'audio', source: url }])).toMatchObject({ allowed: ['image', 'video'] });
    const none = entry({ id: 'v', kind: 'video' });
    expect(fieldsOf(create({ references: [{ kind: 'image', source: url }] }), none)).toEqual([
      'references[0].kind',
    ]);
  });

  it('[C2.1.4] a text takes one reference, an array as many as the model wants', () => {
    const images = (count: number, field: string) =>
      create({
        references: Array.from({ length: count }, () => ({ kind: 'image', source: url, field }) as const),
      });
    expect(fieldsOf(images(1, 'first_frame'), entry(video))).toEqual([]);
    expect(fieldsOf(images(2, 'first_frame'), entry(video))).toEqual(['references']);
    expect(fieldsOf(images(2, 'images'), entry(video))).toEqual([]);
    expect(fieldsOf(images(3, 'images'), entry(video))).toEqual(['references']);
  });

  it('two kinds that share one text field are one too many', () => {
    const shared = entry({
      id: 'v',
      kind: 'video',
      references: [
        { kind: 'image', field: 'input_reference', shape: 'string', form: 'url' },
        { kind: 'video', field: 'input_reference', shape: 'string', form: 'url' },
      ],
    });
    const both = create({
      references: [
        { kind: 'image', source: url },
        { kind: 'video', source: url },
      ],
    });
    expect(fieldsOf(both, shared)).toEqual(['references']);
  });
});

describe('images', () => {
  const silent = entry({ id: 'image-2', kind: 'image' });

  it('[C2.3.3] auto passes only where it is listed', () => {
    expect(fieldsOf(generate({ size: 'auto' }), entry(image))).toEqual([]);
    expect(fieldsOf(generate({ size: 'auto' }), entry({ ...image, sizes: ['1024x1024'] }))).toEqual(['size']);
    expect(fieldsOf(generate({ size: 'auto' }), silent)).toEqual(['size']);
    expect(fieldsOf(generate({ size: '640x480' }), silent)).toEqual([]);
  });

  it('[C2.3.4] quality passes only where the configuration lists it', () => {
    expect(fieldsOf(generate({ quality: 'high' }), entry(image))).toEqual([]);
    expect(fieldsOf(generate({ quality: 'high' }), silent)).toEqual(['quality']);
  });

  it('[C2.3.6] response_format passes only where it is enabled', () => {
    expect(fieldsOf(generate({ responseFormat: 'url' }), entry(image))).toEqual([]);
    expect(fieldsOf(generate({ responseFormat: 'url' }), silent)).toEqual(['responseFormat']);
  });

  it('[C2.3.7] sizes and qualities come from the configuration alone: none is built in', () => {
    const odd = entry({ id: 'image-2', kind: 'image', sizes: ['7x9'], qualities: ['shiny'] });
    expect(fieldsOf(generate({ size: '7x9', quality: 'shiny' }), odd)).toEqual([]);
    expect(fieldsOf(generate({ size: '1024x1024' }), odd)).toEqual(['size']);
  });

  it('[C1.3] a size of the 4K model is refused for the other one, and nothing is swapped', () => {
    const paid = generate({ size: '4096x4096' });
    expect(fieldsOf(paid, entry(image))).toEqual(['size']);
    expect(paid.request.model).toBe('image-2');
    expect(fieldsOf(paid, entry({ id: 'image-2 4K', kind: 'image', sizes: ['4096x4096'] }))).toEqual([]);
  });

  it('[C2.4.5] a mask passes only where mask editing is listed', () => {
    expect(fieldsOf(edit({ mask: file }), entry(image))).toEqual([]);
    expect(fieldsOf(edit({ mask: file }), entry({ ...image, edit: {} }))).toEqual(['mask']);
    expect(fieldsOf(edit({ mask: file }), silent)).toEqual(['mask']);
  });

  it('[C2.4.7] size, quality, n and response_format of an edit pass only where they are listed for edits', () => {
    const all = { size: '1024x1024', quality: 'high', n: 1, responseFormat: 'url' } as const;
    expect(fieldsOf(edit(all), entry(image))).toEqual(['quality', 'responseFormat']);
    expect(fieldsOf(edit(all), silent)).toEqual(['quality', 'responseFormat', 'size', 'n'].sort(byOrder));
    expect(fieldsOf(edit({}), silent)).toEqual([]);
    expect(fieldsOf(edit({ images: [file, file, file] }), entry(image))).toEqual(['images']);
  });
});
const ORDER = ['size', 'quality', 'n', 'responseFormat'];
const byOrder = (a: string, b: string) => ORDER.indexOf(a) - ORDER.indexOf(b);

describe('a model that is not listed', () => {
  const unlisted: ModelLookup = { found: 'unlisted' };

  it('takes the safe fields and is not called validated', () => {
    const safe = create({ durationSeconds: 5, resolution: '720p', aspectRatio: '16:9' });
    expect(validateAgainstModel(safe, unlisted)).toEqual({ issues: [], validated: false });
    expect(fieldsOf(generate({ size: '1024x1024', n: 3 }), unlisted)).toEqual([]);
    expect(fieldsOf(edit({}), unlisted)).toEqual([]);
  });

  it.each([
    ['references', create({ references: [{ kind: 'image', source: url }] })],
    ['quality', generate({ quality: 'high' })],
    ['responseFormat', generate({ responseFormat: 'url' })],
    ['size', generate({ size: 'auto' })],
    ['size', edit({ size: '1024x1024' })],
    ['n', edit({ n: 1 })],
    ['mask', edit({ mask: file })],
  ] as const)('refuses %s and names MEDIA_MODELS', (field, paid) => {
    const { issues } = validateAgainstModel(paid, unlisted);
    expect(issues).toHaveLength(1);
    expect(issues[0]!.field).toBe(field);
    expect(issues[0]!.message).toContain('MEDIA_MODELS');
  });

  it('is refused, with the known ones named, when unknown models are', () => {
    const lookup: ModelLookup = { found: 'refused', known: ['image-2', 'image-2 4K'] };
    expect(validateAgainstModel(generate({}), lookup)).toMatchObject({
      issues: [{ field: 'model', allowed: ['image-2', 'image-2 4K'] }],
      validated: false,
    });
  });
});

it('a model of the wrong kind is refused', () => {
  expect(fieldsOf(create({}), entry(image))).toEqual(['model']);
  expect(fieldsOf(edit({}), entry(video))).toEqual(['model']);
});

it('[C2.1.6] never adds or changes a field of the request', () => {
  const request = fc.record(
    {
      model: fc.string(),
      prompt: fc.string(),
      durationSeconds: fc.integer(),
      resolution: fc.string(),
      aspectRatio: fc.string(),
      fields: fc.dictionary(fc.string(), fc.jsonValue()),
      references: fc.array(
        fc.record({
          kind: fc.constantFrom('image', 'video', 'audio'),
          source: fc.constantFrom(file, url, { artifact }),
        }),
      ),
    },
    { requiredKeys: ['model', 'prompt'] },
  );
  fc.assert(
    fc.property(request, fc.constantFrom('entry', 'unlisted', 'refused'), (value, found) => {
      const lookup: ModelLookup =
        found === 'entry' ? entry(video) : found === 'unlisted' ? { found } : { found: 'refused', known: [] };
      const before = JSON.stringify(value);
      const { issues } = validateAgainstModel(
        { operation: 'create_video', request: value as VideoRequest },
        lookup,
      );
      expect(JSON.stringify(value)).toBe(before);
      for (const issue of issues) expect(issue.message).not.toBe('');
      if (found === 'entry' && value.durationSeconds !== undefined)
        expect(issues.some(({ field }) => field === 'durationSeconds')).toBe(
          ![4, 8].includes(value.durationSeconds),
        );
    }),
  );
});

test('where no configuration is known nothing is refused but what no model takes', () => {
  const lookup: ModelLookup = { found: 'not_known_here' };
  const given = create({ references: [{ kind: 'image', source: url }], fields: { wings: 2 } });
  expect(validateAgainstModel(given, lookup)).toEqual({ issues: [], validated: false });
  expect(fieldsOf(edit({ mask: file, n: 2 }), lookup)).toEqual([]);
  expect(fieldsOf(create({ fields: { duration: '4' } }), lookup)).toEqual(['fields.duration']);
});
