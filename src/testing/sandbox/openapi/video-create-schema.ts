import { sandboxModels } from '../model-catalog';
import { nominalSizes } from '../nominal-size';
import { type SandboxVideoModel } from '../sandbox-model';
import { type SandboxMode } from '../sandbox-options';
import { type JsonSchema, object, ref, someText } from './json-schema';
import { noLocalPath } from './local-path-schema';
import { referenceSchema } from './reference-schema';

/** The body of a create (contract 2.1): one alternative per model of the catalog. */
export function videoCreateSchema(mode: SandboxMode): JsonSchema {
  const models = sandboxModels.models.filter((one) => one.kind === 'video');
  return { oneOf: models.map(mode === 'strict' ? strictCreate : compatCreate) };
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

/** Published clients: numbers as texts, nulls, `size`, and fields that the model does not know. */
function compatCreate(model: SandboxVideoModel): JsonSchema {
  const numbers = model.durations ?? [];
  const duration: JsonSchema =
    model.durations === undefined
      ? {
          anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string', pattern: '^[1-9][0-9]{0,8}$' }, nothing],
        }
      : { enum: [...numbers, ...numbers.map(String), null] };
  const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, nothing] });
  return object(
    {
      model: { const: model.id },
      prompt: someText,
      seconds: duration,
      duration,
      size: { enum: [...nominalSizes(model.resolutions, model.aspectRatios), null] },
      resolution: orNull(choice(model.resolutions)),
      aspect_ratio: orNull(choice(model.aspectRatios)),
      // Base64 may begin with a slash: such a field cannot be told from a path by its looks.
      ...Object.fromEntries(base64Fields(model).map((name) => [name, {}])),
    },
    ['model', 'prompt'],
    { title: model.id, additionalProperties: ref('AnyValue') },
  );
}

const nothing: JsonSchema = { type: 'null' };

function base64Fields(model: SandboxVideoModel): string[] {
  return (model.references ?? []).filter((one) => one.form === 'base64').map((one) => one.field);
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
