import { sandboxModels } from '../model-catalog';
import { type SandboxImageModel } from '../sandbox-model';
import { type SandboxMode } from '../sandbox-options';
import { type JsonSchema, object, ref, someText } from './json-schema';

const models = sandboxModels.models.filter((one) => one.kind === 'image');
const nothing: JsonSchema = { type: 'null' };

/** The body of a generation (contract 2.3): one alternative per model of the catalog. */
export function imageGenerationSchema(mode: SandboxMode): JsonSchema {
  return {
    oneOf: models.map((model) =>
      object(
        { model: { const: model.id }, prompt: someText, ...optionsOf(model, mode, 'json') },
        ['model', 'prompt'],
        { title: model.id, ...(mode === 'strict' ? { additionalProperties: false } : {}) },
      ),
    ),
  };
}

/** The parts of an edit (contract 2.4). Their order is not shown here: text parts come first, `model` before all. */
export function imageEditSchema(mode: SandboxMode): JsonSchema {
  const several = { type: 'array', items: ref('File') };
  return {
    oneOf: models.map((model) => {
      const fields = Object.entries(optionsOf(model, mode, 'multipart')).filter(([name]) =>
        model.edit?.fields?.includes(name),
      );
      const most = model.edit?.maxImages === undefined ? {} : { maxItems: model.edit.maxImages };
      return object(
        {
          model: { const: model.id },
          prompt: someText,
          ...Object.fromEntries(fields),
          image: ref('File'),
          'image[]': { ...several, minItems: mode === 'strict' ? 2 : 1, ...most },
          ...(model.edit?.mask === true ? { mask: ref('File') } : {}),
        },
        ['model', 'prompt'],
        {
          title: model.id,
          [mode === 'strict' ? 'oneOf' : 'anyOf']: [{ required: ['image'] }, { required: ['image[]'] }],
          ...(mode === 'strict' ? { additionalProperties: false } : {}),
        },
      );
    }),
  };
}

/** The image response (contract 2.5). */
export function imageReplySchema(mode: SandboxMode): JsonSchema {
  const strict = mode === 'strict';
  const text = strict ? { type: 'string', minLength: 1 } : { type: ['string', 'null'], minLength: 1 };
  const item = object(
    { url: text, b64_json: text, ...(strict ? {} : { revised_prompt: nothing }) },
    [],
    strict ? { minProperties: 1, maxProperties: 1 } : { minProperties: 1 },
  );
  const integer = { type: 'integer' };
  const tokens = { input_tokens: integer, output_tokens: integer, total_tokens: integer };
  const usage = strict ? object({ images: integer }, ['images']) : object(tokens, Object.keys(tokens));
  return object({ created: integer, data: { type: 'array', items: item }, usage }, ['created', 'data']);
}

function optionsOf(
  model: SandboxImageModel,
  mode: SandboxMode,
  body: 'json' | 'multipart',
): Record<string, JsonSchema> {
  const counts = Array.from({ length: model.maxN ?? 10 }, (_, index) => index + 1);
  const allowed: Record<string, (string | number)[] | undefined> = {
    size: model.sizes,
    quality: model.qualities,
    n:
      body === 'multipart'
        ? counts.map(String)
        : mode === 'strict'
          ? counts
          : [...counts, ...counts.map(String)],
    response_format: model.responseFormats,
  };
  return Object.fromEntries(
    Object.entries(allowed).flatMap(([name, values]): [string, JsonSchema][] => {
      if (mode === 'strict' || body === 'multipart')
        return values === undefined ? [] : [[name, { enum: values }]];
      return [[name, { enum: [...(values ?? []), null] }]];
    }),
  );
}
