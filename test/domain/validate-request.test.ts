import fc from 'fast-check';
import { MAX_INLINE_DATA_URL, type PaidRequest, type VideoRequest } from '../../src/domain/request';
import { validateRequest } from '../../src/domain/validate-request';

const video = (request: object): PaidRequest => ({
  operation: 'create_video',
  request: { model: 'video-1', prompt: 'a cat', ...request },
});
const image = (request: object): PaidRequest => ({
  operation: 'generate_image',
  request: { model: 'image-2', prompt: 'a cat', ...request },
});
const edit = (request: object): PaidRequest => ({
  operation: 'edit_image',
  request: { model: 'image-2', prompt: 'a cat', images: [{ url: 'https://a.example/x.png' }], ...request },
});
const fieldsOf = (paid: PaidRequest) => validateRequest(paid).map(({ field }) => field);
const reference = (source: unknown) => video({ references: [{ kind: 'image', source }] });
const hash = 'ab'.repeat(32);
const artifact = { uri: `artifact:sha256/${hash}`, mediaType: 'image/png', bytes: 4, sha256: hash };

describe('model and prompt', () => {
  const empty = [undefined, null, '', '  ', '\n', 7, {}];

  it.each(empty)('[C2.1.1] a video without a model or a prompt (%j) is refused', (value) => {
    expect(fieldsOf(video({ model: value }))).toEqual(['model']);
    expect(fieldsOf(video({ prompt: value }))).toEqual(['prompt']);
  });

  it.each(empty)('[C2.3.1] an image without a model or a prompt (%j) is refused', (value) => {
    expect(fieldsOf(image({ model: value }))).toEqual(['model']);
    expect(fieldsOf(image({ prompt: value }))).toEqual(['prompt']);
    expect(fieldsOf(edit({ model: value, prompt: value }))).toEqual(['model', 'prompt']);
  });

  it('names every field that is wrong, and nothing when all is well', () => {
    expect(fieldsOf(video({ model: '', prompt: '', durationSeconds: 0.5, resolution: '' }))).toEqual([
      'model',
      'prompt',
      'durationSeconds',
      'resolution',
    ]);
    expect(validateRequest(video({}))).toEqual([]);
    expect(validateRequest(image({ model: 'image-2 4K' }))).toEqual([]);
  });
});

describe('a video', () => {
  it.each([0, -1, 4.5, NaN, Infinity, '4', null, true])(
    '[C2.1.2] a duration of %p is refused',
    (durationSeconds) => {
      expect(fieldsOf(video({ durationSeconds }))).toEqual(['durationSeconds']);
    },
  );

  it.each([1, 4, 600])('[C8.8] a duration of %p has no upper limit of ours', (durationSeconds) => {
    expect(fieldsOf(video({ durationSeconds }))).toEqual([]);
  });

  it.each(['', ' ', null, 720])('resolution and ratio are a text or left out, not %p', (value) => {
    expect(fieldsOf(video({ resolution: value, aspectRatio: value }))).toEqual(['resolution', 'aspectRatio']);
  });

  it('[C2.1.4] takes image, video and audio references, and no others', () => {
    const of = (kind: string) => ({ kind, source: { url: 'https://a.example/x' } });
    expect(fieldsOf(video({ references: ['image', 'video', 'audio'].map(of) }))).toEqual([]);
    const [issue] = validateRequest(video({ references: [of('image'), of('text')] }));
    expect(issue).toMatchObject({ field: 'references[1].kind', allowed: ['image', 'video', 'audio'] });
  });

  it('[C8.8] any number of references passes: the contract names no largest one', () => {
    const references = Array.from({ length: 200 }, () => ({
      kind: 'image' as const,
      source: { url: 'https://a.example/x' },
    }));
    expect(validateRequest(video({ references }))).toEqual([]);
  });
});

describe('where a reference comes from', () => {
  it.each([
    { artifact },
    { file: '/in/cat.png' },
    { url: 'https://a.example/x' },
    { url: 'HTTP://a.example' },
  ])('may be %j', (source) => {
    expect(validateRequest(reference(source))).toEqual([]);
  });

  it.each([
    '/etc/passwd',
    'file:///etc/passwd',
    'C:\\cat.png',
    '../cat.png',
    'ftp://a.example/x',
    'https://',
    'https:/a.example/x',
    'https://a.example/a b',
    ' https://a.example/x',
    '',
  ])('[C2.4.6] the url %j is no URL: a local path never reaches JSON', (url) => {
    expect(fieldsOf(reference({ url }))).toEqual(['references[0].source']);
    expect(fieldsOf(edit({ images: [{ url }], mask: { url } }))).toEqual(['images[0]', 'mask']);
  });

  it('a data: URL is small, because a history is no file store', () => {
    const ofLength = (length: number) => ({ url: 'data:image/png;base64,'.padEnd(length, 'A') });
    expect(fieldsOf(reference(ofLength(MAX_INLINE_DATA_URL)))).toEqual([]);
    expect(fieldsOf(reference(ofLength(MAX_INLINE_DATA_URL + 1)))).toEqual(['references[0].source']);
  });

  it.each([
    null,
    'x',
    [],
    {},
    { url: 1 },
    { file: '' },
    { file: 1 },
    { artifact: null },
    { artifact: { ...artifact, sha256: 'cd'.repeat(32) } },
  ])('is none of ours: %j', (source) => {
    expect(fieldsOf(reference(source))).toEqual(['references[0].source']);
  });
});

describe('an image', () => {
  it.each(['1024x1024', '1x1', '99999x1', '123456x123456'])('[C2.3.2] the size %j passes', (size) => {
    expect(fieldsOf(image({ size }))).toEqual([]);
  });

  it.each([
    '1024×1024',
    '1024X1024',
    '1024 x 1024',
    ' 1024x1024',
    '1024x1024\n',
    '+1024x1024',
    '-1x1',
    '0x1',
    '1024x',
    'x1024',
    '1024x1024x1',
    '1e3x1e3',
    '１０２４x１０２４',
    '١٠٢٤x١٠٢٤',
    '1024.0x1024',
    'Auto',
    '',
    null,
    1024,
  ])('[C2.3.2] the size %j is refused', (size) => {
    expect(fieldsOf(image({ size }))).toEqual(['size']);
    expect(fieldsOf(edit({ size }))).toEqual(['size']);
  });

  it.each([0, -1, 1.5, '2', null, NaN])('[C2.3.5] n = %p is refused', (n) => {
    expect(fieldsOf(image({ n }))).toEqual(['n']);
  });

  it.each([undefined, 1, 2, 10_000])('[C2.3.5] n = %p passes', (n) => {
    expect(fieldsOf(image({ n }))).toEqual([]);
  });

  it('[C2.3.6] the response format is url or b64_json', () => {
    expect(fieldsOf(image({ responseFormat: 'url' }))).toEqual([]);
    expect(fieldsOf(image({ responseFormat: 'b64_json' }))).toEqual([]);
    for (const responseFormat of ['b64', 'URL', '', null]) {
      const [issue] = validateRequest(image({ responseFormat }));
      expect(issue).toMatchObject({ field: 'responseFormat', allowed: ['url', 'b64_json'] });
    }
  });

  it.each([undefined, [], null, 'x.png', {}])('[C2.4.4] an edit with images = %j is refused', (images) => {
    expect(fieldsOf(edit({ images }))).toEqual(['images']);
  });

  it('checks every image of an edit and its mask', () => {
    expect(fieldsOf(edit({ images: [{ artifact }, { url: 'x' }, { file: 'cat.png' }], mask: {} }))).toEqual([
      'images[1]',
      'mask',
    ]);
  });
});

describe('an untyped caller', () => {
  const operations = ['create_video', 'generate_image', 'edit_image'] as const;

  it('never makes it throw: in workflow code that would hang the execution', () => {
    const field = fc.constantFrom(
      ...['model', 'prompt', 'durationSeconds', 'references', 'size', 'n', 'images', 'mask', 'fields'],
    );
    const nearly = fc.dictionary(field, fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom(...operations), fc.oneof(fc.jsonValue(), nearly), (operation, request) => {
        const issues = validateRequest({
          operation,
          request: request as unknown as VideoRequest,
        } as PaidRequest);
        expect(Array.isArray(issues)).toBe(true);
      }),
    );
  });

  it.each([undefined, null, 'x', 4, []])('a request that is %j is refused', (request) => {
    for (const operation of operations) {
      expect(fieldsOf({ operation, request } as unknown as PaidRequest)).toEqual(['request']);
    }
  });

  it.each([{}, 'x', 4, null])('references that are %j are refused', (references) => {
    expect(fieldsOf(video({ references }))).toEqual(['references']);
    expect(fieldsOf(video({ references: [null, 'x'] }))).toEqual(['references[0]', 'references[1]']);
  });
});

describe('half of a surrogate pair, which UTF-8 cannot carry', () => {
  const HALVES = ['\ud83d', 'cut \ud83d', '\udc31 cat', '\udc31\ud83d'];
  const whole = 'a \u{1f431} cat';
  const source = (url: string) => ({ url: `https://a.example/${url}` });

  it.each<[string, (text: string) => PaidRequest]>([
    ['model', (text) => video({ model: text })],
    ['prompt', (text) => video({ prompt: text })],
    ['prompt', (text) => image({ prompt: text })],
    ['prompt', (text) => edit({ prompt: text })],
    ['resolution', (text) => video({ resolution: text })],
    ['aspectRatio', (text) => video({ aspectRatio: text })],
    ['quality', (text) => image({ quality: text })],
    ['fields.seed', (text) => video({ fields: { seed: text } })],
    ['fields.deep', (text) => image({ fields: { deep: [{ inner: [text] }] } })],
    ['references', (text) => video({ references: [{ kind: 'image', source: source('x'), field: text }] })],
    ['mask', (text) => edit({ mask: { file: text } })],
  ])('[C0.3] is refused in %s, and a whole pair is not', (field, make) => {
    for (const text of HALVES) expect(fieldsOf(make(text))).toContain(field);
    expect(fieldsOf(make(whole))).toEqual([]);
  });

  it('is named by its place, without the text', () => {
    const [issue] = validateRequest(video({ prompt: 'secret \ud83d' }));
    expect(issue).toMatchObject({
      field: 'prompt',
      message: expect.stringContaining('U+D83D at character 8') as string,
    });
    expect(JSON.stringify(issue)).not.toContain('secret');
    expect(fieldsOf(video({ fields: { 'a\ud83d': 1 } }))).toEqual(['fields.a\ud83d']);
  });

  it('is looked for in every object once', () => {
    const circle: { [name: string]: unknown } = { text: 'a' };
    circle['self'] = circle;
    expect(fieldsOf(video({ fields: { circle } }))).toEqual([]);
  });
});
