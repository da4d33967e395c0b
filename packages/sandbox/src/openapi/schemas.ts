import { type JsonObject } from '../json-value';
import { nominalSizes } from '../media-store';
import {
  imageModels,
  type SandboxImageModel,
  type SandboxReference,
  type SandboxVideoModel,
  videoModels,
} from '../models';
import { allStatusWords, type SandboxMode } from '../options';
import { base64Fields, localPath } from '../validate-bodies';

/** A JSON Schema, draft 2020-12, which is the dialect of OpenAPI 3.1. */
export type JsonSchema = JsonObject;

/** A string that is not blank. */
const someText: JsonSchema = { type: 'string', pattern: '\\S' };

/** Returns a reference to one of the document's schemas. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns an object schema. Other fields are allowed unless `rest` forbids them. */
export function object(
  properties: Record<string, JsonSchema>,
  required: readonly string[],
  rest: JsonSchema = {},
): JsonSchema {
  return { type: 'object', required: [...required], properties, ...rest };
}

/** A string that is not a local path. */
const noLocalPath: JsonSchema = { type: 'string', not: { pattern: localPath.source } };

const inside = [
  ref('NoLocalPath'),
  { type: ['number', 'boolean', 'null'] },
  { type: 'array', items: ref('AnyValue') },
  { type: 'object', additionalProperties: ref('AnyValue') },
];

/**
 * Schemas for free-form fields, which accept any JSON without local paths. `FreeValue` excludes null at the top level.
 */
export const freeSchemas: Record<string, JsonSchema> = {
  NoLocalPath: noLocalPath,
  AnyValue: { anyOf: inside },
  FreeValue: { anyOf: inside, not: { type: 'null' } },
};

const nothing: JsonSchema = { type: 'null' };
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, nothing] });
/** A known field that this model does not accept. */
const never: JsonSchema = { not: {} };

/** Returns the schema of a generation's body (contract 2.3), with one alternative per model in the catalog. */
export function imageGenerationSchema(mode: SandboxMode): JsonSchema {
  return {
    oneOf: imageModels.map((model) =>
      object(
        { model: { const: model.id }, prompt: someText, ...optionsOf(model, mode, 'json') },
        ['model', 'prompt'],
        { title: model.id, ...(mode === 'strict' ? { additionalProperties: false } : {}) },
      ),
    ),
  };
}

/**
 * Returns the schema of an edit's parts (contract 2.4). A schema cannot express their order: `model`, other text parts,
 * files.
 */
export function imageEditSchema(mode: SandboxMode): JsonSchema {
  const several = { type: 'array', items: ref('File') };
  return {
    oneOf: imageModels.map((model) => {
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

/** Returns the schema of an image reply (contract 2.5). */
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

const integer: JsonSchema = { type: 'integer' };
const text: JsonSchema = { type: 'string' };
const url: JsonSchema = { type: 'string', minLength: 1 };
const percent = { type: 'number', minimum: 0, maximum: 100 };

/** Seconds, tokens or a cost. Some models report none, which does not mean that they are free. */
const usage: JsonSchema = {
  anyOf: [
    object({ duration_seconds: integer }, ['duration_seconds']),
    object({ completion_tokens: integer, total_tokens: integer }, ['completion_tokens', 'total_tokens']),
    object({ cost: { type: 'number' } }, ['cost']),
  ],
};

/** The contract does not define the shape: an object, a string or null in `error`, or fields with other names. */
const failure = {
  error: { type: ['object', 'string', 'null'] },
  failureCode: text,
  fail_reason: text,
};

/** Every field that may contain the result URL, at most one per record (contract 2.2 does not name the field). */
const links = {
  url,
  output_url: url,
  video_url: url,
  result_url: url,
  output_path: text,
  metadata: object({ url }, ['url']),
  urls: { type: 'array', items: url },
  output: { type: 'array', items: url },
  video: object({ url }, ['url']),
  assets: object({ video: url }, ['video']),
  content: object({ video_url: url }, ['video_url']),
  data: { type: 'object', properties: { video_url: url, result_url: url }, minProperties: 1 },
};

const id: JsonSchema = { type: 'string', minLength: 1, maxLength: 32 };

/**
 * Returns the schema of a task's record (contract 2.2). Only id and status are required, because the other fields
 * depend on the sandbox's options.
 */
export function videoRecordSchema(mode: SandboxMode): JsonSchema {
  return mode === 'strict' ? strictRecord : compatRecord;
}

const strictRecord = object(
  {
    id,
    status: { enum: ['queued', 'in_progress', 'completed', 'failed'] },
    progress: percent,
    object: { const: 'video' },
    model: someText,
    created_at: integer,
    completed_at: integer,
    resolution: text,
    seconds: { type: ['integer', 'string'] },
    fps: integer,
    usage,
    ...failure,
    ...links,
  },
  ['id', 'status'],
);

const published = {
  id,
  object: { const: 'video' },
  created_at: integer,
  completed_at: orNull(integer),
  error: failure.error,
  expires_at: orNull(integer),
  model: someText,
  progress: orNull(percent),
  prompt: text,
  remixed_from_video_id: { type: 'null' },
  seconds: { type: 'string', pattern: '^[0-9]+$' },
  size: { type: 'string', pattern: '^[0-9]+x[0-9]+$' },
  status: { enum: allStatusWords() },
};

/** Contains every key in the published videos API. */
const compatRecord = object(
  { ...published, ...failure, ...links, task_id: id, usage: orNull(usage) },
  Object.keys(published),
);

/** Returns the schema of a create's body (contract 2.1), with one alternative per model in the catalog. */
export function videoCreateSchema(mode: SandboxMode): JsonSchema {
  return { oneOf: videoModels.map(mode === 'strict' ? strictCreate : compatCreate) };
}

function strictCreate(model: SandboxVideoModel): JsonSchema {
  const duration = durationSchema(model);
  const names = model.durationField === undefined ? ['duration', 'seconds'] : [model.durationField];
  const references = (model.references ?? []).map((one) => [one.field, referenceSchema(one)] as const);
  return object(
    {
      model: { const: model.id },
      prompt: someText,
      ...Object.fromEntries(names.map((name) => [name, duration])),
      resolution: choice(model.resolutions),
      aspect_ratio: choice(model.aspectRatios),
      ...Object.fromEntries((model.fields ?? []).map((name) => [name, ref('FreeValue')])),
      ...Object.fromEntries(references),
    },
    ['model', 'prompt'],
    {
      title: model.id,
      additionalProperties: false,
      ...(names.length > 1 ? { not: { required: names } } : {}),
    },
  );
}

/** Accepts what published clients send: numbers as strings, nulls, `size`, and fields that the model does not have. */
function compatCreate(model: SandboxVideoModel): JsonSchema {
  const numbers = model.durations ?? [];
  const duration: JsonSchema =
    model.durations === undefined
      ? {
          anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string', pattern: '^[1-9][0-9]{0,8}$' }, nothing],
        }
      : { enum: [...numbers, ...numbers.map(String), null] };
  return object(
    {
      model: { const: model.id },
      prompt: someText,
      seconds: duration,
      duration,
      size: { enum: [...nominalSizes(model.resolutions, model.aspectRatios), null] },
      resolution: orNull(choice(model.resolutions)),
      aspect_ratio: orNull(choice(model.aspectRatios)),
      // Base64 may begin with a slash, so the pattern for local paths cannot be applied to these fields.
      ...Object.fromEntries(base64Fields(model).map((name) => [name, {}])),
    },
    ['model', 'prompt'],
    { title: model.id, additionalProperties: ref('AnyValue') },
  );
}

function durationSchema({ durations, durationForm }: SandboxVideoModel): JsonSchema {
  if (durationForm === 'string')
    return durations === undefined
      ? { type: 'string', pattern: '^0*[1-9][0-9]*$' }
      : { type: 'string', enum: durations.map(String) };
  return durations === undefined ? { type: 'integer', minimum: 1 } : { type: 'integer', enum: durations };
}

function choice(choices: string[] | undefined): JsonSchema {
  return choices === undefined ? { ...noLocalPath, minLength: 1 } : { type: 'string', enum: choices };
}

/** At least 16 characters, padded, with zero bits after the last byte. */
const base64 =
  '(?:[A-Za-z0-9+/]{4}){3,}(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{4})';

/** Returns the schema of a model's reference field, by its kind, shape and form (contract 2.1). */
function referenceSchema({ kind, shape, form, max }: SandboxReference): JsonSchema {
  const patterns = {
    url: '^https?://[^/\\s]+',
    data_url: `^data:${kind}/[^;,]*;base64,${base64}$`,
    base64: `^${base64}$`,
  };
  const one: JsonSchema = { type: 'string', pattern: patterns[form] };
  if (shape === 'string') return one;
  return { type: 'array', items: one, minItems: 1, ...(max === undefined ? {} : { maxItems: max }) };
}
