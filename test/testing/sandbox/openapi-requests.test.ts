import fc from 'fast-check';
import { sandboxModels } from '../../../packages/sandbox/src';
import {
  compatCreate,
  compatGeneration,
  validateCompatEdit,
  validateCompatGeneration,
  validateCompatVideo,
} from '../../../packages/sandbox/src/compat';
import { type JsonObject } from '../../../packages/sandbox/src/json-value';
import { type SandboxMode } from '../../../packages/sandbox/src/options';
import { type SandboxPart } from '../../../packages/sandbox/src/request-log';
import {
  validateEdit,
  validateGeneration,
  validateVideo,
} from '../../../packages/sandbox/src/validate-bodies';
import { openapiSchemas } from './openapi-schema';

const base64 = Buffer.alloc(60, 7).toString('base64');
const texts = [
  '',
  ' ',
  'x',
  '/etc/passwd',
  'FILE:///etc',
  'C:\\a',
  '../a',
  '//host/x',
  'https://a.example/x',
  base64,
];
const dataUrls = ['image', 'video', 'audio'].map((kind) => `data:${kind}/png;base64,${base64}`);
const value = fc.constantFrom<unknown>(
  ...texts,
  ...dataUrls,
  ...[0, 1, 2, 2.5, 3, 4, 5, 6, 9],
  ...[
    '1',
    '2',
    '6',
    '7',
    '480p',
    '720p',
    '16:9',
    '9:16',
    '512x512',
    '1280x720',
    '1x1',
    'auto',
    'high',
    'url',
  ],
  ...[null, true, [], ['https://a.example/x'], [base64], [dataUrls[0]], { lens: '/a' }, { lens: [1, null] }],
);
const models = (kind: string) =>
  fc.constantFrom<unknown>(
    ...sandboxModels.models.filter((one) => one.kind === kind).map((one) => one.id),
    'x',
    '',
  );
const names = sandboxModels.models.flatMap((one) =>
  one.kind === 'video' ? [...(one.fields ?? []), ...(one.references ?? []).map((ref) => ref.field)] : [],
);
const video = ['seconds', 'duration', 'resolution', 'aspect_ratio', 'watermark', ...new Set(names)];

/** Bodies of a few fields, mostly with a model and a prompt; values that are right for some field. */
function bodies(kind: string, fields: readonly string[]): fc.Arbitrary<JsonObject> {
  const some = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 3 });
  return fc
    .tuple(some, models(kind), fc.constantFrom('x', 'x', 'x', '/x', '', null))
    .map(([rest, model, prompt]) => {
      return { model, prompt, ...rest };
    });
}

/** What the document lets through is what the sandbox lets through. */
describe('requests: the OpenAPI document against the validators', () => {
  const agree = (
    mode: SandboxMode,
    schema: string,
    body: fc.Arbitrary<JsonObject>,
    accepts: (body: JsonObject) => boolean,
  ): [number, number] => {
    const schemas = openapiSchemas(mode);
    const seen: [number, number] = [0, 0];
    fc.assert(
      fc.property(body, (one) => {
        const wrong = schemas.request(schema, one);
        const accepted = accepts(one);
        seen[accepted ? 0 : 1] += 1;
        expect({ accepted, wrong: accepted ? wrong : wrong.length > 0 }).toEqual({
          accepted,
          wrong: accepted ? [] : true,
        });
      }),
      { numRuns: 4_000 },
    );
    return seen;
  };
  /** Both kinds of body must have come up, or the comparison says nothing. */
  const often = (seen: [number, number]): void => expect(Math.min(...seen)).toBeGreaterThan(50);

  test('creates in strict mode', () => {
    const validate = (body: JsonObject): boolean => validateVideo(body).length === 0;
    often(agree('strict', 'VideoCreate', bodies('video', video), validate));
  });

  test('generations in strict mode', () => {
    const fields = ['size', 'quality', 'n', 'response_format', 'user'];
    const validate = (body: JsonObject): boolean => validateGeneration(body).length === 0;
    often(agree('strict', 'ImageGeneration', bodies('image', fields), validate));
  });

  test('creates in compat mode', () => {
    // One name of the duration and of the picture's shape at a time: published clients know one each.
    const alone = fc.constantFrom('seconds', 'duration').chain((duration) => {
      return fc
        .constantFrom(['size'], ['resolution', 'aspect_ratio'])
        .chain((shape) => bodies('video', [duration, ...shape, 'input_reference', 'user']));
    });
    const validate = (body: JsonObject): boolean => validateCompatVideo(compatCreate(body)).length === 0;
    often(agree('compat', 'VideoCreate', alone, validate));
  });

  test('generations in compat mode', () => {
    const fields = ['size', 'quality', 'n', 'response_format', 'user'];
    const validate = (body: JsonObject): boolean =>
      validateCompatGeneration(compatGeneration(body)).length === 0;
    often(agree('compat', 'ImageGeneration', bodies('image', fields), validate));
  });

  /** Texts and files of an edit in the order that strict mode wants, and as the object that the document describes. */
  const edits = fc
    .record({
      texts: bodies('image', ['size', 'quality', 'n', 'response_format', 'user']),
      name: fc.constantFrom('image', 'image[]'),
      images: fc.constantFrom(1, 1, 1, 2, 3, 0, 5),
      mask: fc.constantFrom(false, false, true),
    })
    .map(({ texts: fields, name, images, mask }) => {
      const shown = Object.entries(fields).map(([field, one]) => [
        field,
        typeof one === 'number' ? `${one}` : one,
      ]);
      const body = Object.fromEntries(shown.filter(([, one]) => typeof one === 'string')) as JsonObject;
      const files = Array<string>(images).fill('bytes');
      if (images > 0) body[name] = name === 'image' && images === 1 ? 'bytes' : files;
      return mask ? { ...body, mask: 'bytes' } : body;
    });
  const partsOf = (body: JsonObject): SandboxPart[] =>
    Object.entries(body).flatMap(([name, one]) =>
      [one].flat().map((content): SandboxPart => {
        const common = { name, contentType: '', bytes: 5, sha256: '' };
        const file = ['image', 'image[]', 'mask'].includes(name);
        return file ? { ...common, kind: 'file' } : { ...common, kind: 'field', value: String(content) };
      }),
    );

  test('edits in strict mode', () => {
    const validate = (body: JsonObject): boolean => validateEdit(partsOf(body)).length === 0;
    often(agree('strict', 'ImageEdit', edits, validate));
  });

  test('edits in compat mode', () => {
    const validate = (body: JsonObject): boolean => validateCompatEdit(partsOf(body)).length === 0;
    often(agree('compat', 'ImageEdit', edits, validate));
  });
});
