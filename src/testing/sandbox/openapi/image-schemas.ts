import { sandboxModels } from '../model-catalog';
import { type SandboxImageModel } from '../sandbox-model';
import { type SandboxMode } from '../sandbox-options';
import { type JsonSchema, object, ref, someText } from './json-schema';

const models = sandboxModels.models.filter((one) => one.kind === 'image');
const nothing: JsonSchema = { type: 'null' };
/** A known field that this model does not take. */
const never: JsonSchema = { not: {} };

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
      const fields = Object.entries(optionsOf(model, mode, 'multipart')).map(
        ([name, schema]): [string, JsonSchema] => [name, model.edit?.fields?.includes(name) ? schema : never],
      );
      const most = model.edit?.maxImages === undefined ? {} : { maxItems: model.edit.maxImages };
      return object(
        {
          model: { const: model.id },
          prompt: someText,
          ...Object.fromEntries(fields),
          image:
            mode === 'strict' ? ref('File') : { anyOf: [ref('File'), { ...several, minItems: 1, ...most }] },
          'image[]': { ...several, minItems: mode === 'strict' ? 2 : 1, ...most },
          mask: model.edit?.mask === true ? ref('File') : never,
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
  const schemaOf = (values: (string | number)[] | undefined): JsonSchema => {
    if (mode === 'compat' && body === 'json') return { enum: [...(values ?? []), null] };
    return values === undefined ? never : { enum: values };
  };
  return Object.fromEntries(Object.entries(allowed).map(([name, values]) => [name, schemaOf(values)]));
}
