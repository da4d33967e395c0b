import { z } from 'zod';
import { LONGEST_ADDRESS_SECONDS, type ModelConfiguration } from '../domain/model-config';
import { MAX_REQUEST_SECONDS } from '../domain/timeouts';
import { CREATE_FIELDS } from '../domain/validate-request';
import { LEAST_POLL_SECONDS, MOST_POLL_SECONDS } from '../domain/video-task';
import { idempotencyPolicySchema } from './config';

/** Never trimmed, because IDs are sent exactly as configured. */
const name = z
  .string()
  .refine((text) => text.trim() !== '', { message: 'must not be empty' })
  .meta({ pattern: '\\S' });
const whole = z.number().int().min(1);
const microUnits = z
  .number()
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .describe('integer micro-units: 1000000 equals one unit of the currency');
const currency = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code such as USD');
const size = z
  .string()
  .regex(/^(auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'must be WIDTHxHEIGHT with a lowercase x, or auto');

function list<T extends z.ZodType>(item: T) {
  return z
    .array(item)
    .refine((values) => new Set(values.map((value) => JSON.stringify(value))).size === values.length, {
      message: 'must not contain duplicate values',
    })
    .meta({ uniqueItems: true });
}

const reference = z.strictObject({
  kind: z.enum(['image', 'video', 'audio']),
  field: name.refine((field) => !CREATE_FIELDS.includes(field), {
    message: 'is already a field of every request. Choose another field',
  }),
  shape: z.enum(['array', 'string']),
  form: z.enum(['url', 'data_url', 'base64', 'file']),
  max: z.exactOptional(whole),
  validSeconds: z.exactOptional(
    whole
      .max(LONGEST_ADDRESS_SECONDS)
      .describe(
        "how long a file's signed URL stays valid, if form is url. Default: one hour, or eight times the delay of the first poll if that is longer",
      ),
  ),
});

const references = z.array(reference).superRefine((mappings, context) => {
  const seen = new Set<string>();
  const shapes = new Map<string, string>();
  for (const { field, shape } of mappings)
    shapes.set(field, shape === (shapes.get(field) ?? shape) ? shape : 'both');
  mappings.forEach(({ kind, field }, index) => {
    const issue = (message: string) => context.addIssue({ code: 'custom', path: [index], message });
    const name = `${kind} ${field}`;
    if (seen.has(name)) issue('has the same kind and field as another reference');
    seen.add(name);
    if (shapes.get(field) === 'both')
      issue('has a different shape than another reference with the same field');
  });
});

const price = z.discriminatedUnion('per', [
  z.strictObject({ per: z.literal(['task', 'second']), microUnits, currency }),
  z.strictObject({
    per: z.literal('specification'),
    currency,
    specifications: z.array(
      z.strictObject({
        resolution: z.exactOptional(name),
        durationSeconds: z.exactOptional(whole),
        size: z.exactOptional(size),
        quality: z.exactOptional(name),
        microUnits,
      }),
    ),
  }),
]);

const actual = z
  .strictObject({
    path: z.exactOptional(
      z
        .string()
        .regex(
          /^[^.\s]{1,100}(\.[^.\s]{1,100}){0,7}$/,
          'must be property names that dots separate, such as usage.cost',
        )
        .describe("property of the task's final record or of the image reply, such as usage.cost"),
    ),
    header: z.exactOptional(
      z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a header')
        .describe('header of the reply to the paid request'),
    ),
    currency,
  })
  .refine(({ path, header }) => (path === undefined) !== (header === undefined), {
    message: 'must have exactly one of path and header',
  })
  .describe(
    'where the service says what a call cost: a number, or a number as text, of at most 6 decimals. Anything else counts as unknown',
  );

const pollSeconds = (least: number) => z.number().min(least).max(MOST_POLL_SECONDS);

const polling = z
  .strictObject({
    minSeconds: pollSeconds(LEAST_POLL_SECONDS),
    maxSeconds: pollSeconds(LEAST_POLL_SECONDS),
    firstPollSeconds: pollSeconds(0).optional(),
    typicalSeconds: z
      .number()
      .positive()
      .optional()
      .describe(
        "how long this model's tasks usually take. The first poll is sent after half of this time; firstPollSeconds takes precedence",
      ),
  })
  .refine(({ minSeconds, maxSeconds }) => minSeconds <= maxSeconds, {
    message: 'minSeconds must not exceed maxSeconds',
  })
  .transform(({ minSeconds, maxSeconds, firstPollSeconds, typicalSeconds = 0 }) => ({
    minSeconds,
    maxSeconds,
    // Tasks hardly ever finish in half the usual time, so waiting this long delays no result.
    firstPollSeconds: firstPollSeconds ?? Math.max(minSeconds, typicalSeconds / 2),
  }));

const requestSeconds = whole
  .max(MAX_REQUEST_SECONDS)
  .describe(
    'longest time for a paid request, from connecting to the last byte of the reply. Default: 60 for videos, 240 for images',
  );

const videoModel = z.strictObject({
  id: name,
  kind: z.literal('video'),
  createForm: z.exactOptional(
    z
      .enum(['json', 'multipart'])
      .describe('multipart if the service accepts creates only as form data; references can then be files'),
  ),
  durationField: z.exactOptional(z.enum(['seconds', 'duration'])),
  durationForm: z.exactOptional(z.enum(['integer', 'string'])),
  durations: z.exactOptional(list(whole)),
  resolutions: z.exactOptional(list(name)),
  aspectRatios: z.exactOptional(list(name)),
  references: z.exactOptional(references),
  fields: z.exactOptional(list(name)),
  polling: z.exactOptional(polling),
  requestSeconds: z.exactOptional(requestSeconds),
  idempotency: z.exactOptional(idempotencyPolicySchema),
  price: z.exactOptional(price),
  actual: z.exactOptional(actual),
});

const imageModel = z.strictObject({
  id: name,
  kind: z.literal('image'),
  sizes: z.exactOptional(list(size)),
  qualities: z.exactOptional(list(name)),
  maxN: z.exactOptional(whole),
  responseFormats: z.exactOptional(list(z.enum(['url', 'b64_json']))),
  edit: z.exactOptional(
    z.strictObject({
      mask: z.exactOptional(z.boolean()),
      fields: z.exactOptional(list(z.enum(['size', 'quality', 'n', 'response_format']))),
      maxImages: z.exactOptional(whole),
    }),
  ),
  fields: z.exactOptional(list(name)),
  requestSeconds: z.exactOptional(requestSeconds),
  idempotency: z.exactOptional(idempotencyPolicySchema),
  price: z.exactOptional(price),
  actual: z.exactOptional(actual),
});

export const modelConfigurationSchema = z
  .strictObject({
    version: z.literal(1),
    models: z.array(z.discriminatedUnion('kind', [videoModel, imageModel])),
  })
  .superRefine(({ models }, context) => {
    models.forEach(({ kind, requestSeconds: longest = 0, idempotency }, index) => {
      if (kind !== 'video' || typeof idempotency !== 'object' || !('windowSeconds' in idempotency)) return;
      if (idempotency.windowSeconds >= 2 * longest) return;
      const message = 'must be at least twice requestSeconds. A shorter window leaves no time to send again';
      context.addIssue({ code: 'custom', path: ['models', index, 'idempotency', 'windowSeconds'], message });
    });
    models.forEach((model, index) => {
      if (model.kind !== 'video' || model.createForm === 'multipart') return;
      model.references?.forEach(({ form }, place) => {
        if (form !== 'file') return;
        const message = 'file works only in a multipart form. Set createForm to multipart for this model';
        context.addIssue({ code: 'custom', path: ['models', index, 'references', place, 'form'], message });
      });
    });
    models.forEach(({ price: estimated, actual: billed }, index) => {
      if (estimated === undefined || billed === undefined || estimated.currency === billed.currency) return;
      const message = `must be the currency of the model's price, ${estimated.currency}`;
      context.addIssue({ code: 'custom', path: ['models', index, 'actual', 'currency'], message });
    });
    // A set, because a document of eight megabytes may contain hundreds of thousands of models.
    const seen = new Set<string>();
    models.forEach(({ id }, index) => {
      if (seen.has(id))
        context.addIssue({ code: 'custom', path: ['models', index, 'id'], message: 'is used by two models' });
      seen.add(id);
    });
  });

export type ConfigurationReading =
  | { readonly ok: true; readonly configuration: ModelConfiguration }
  | { readonly ok: false; readonly message: string };

const SHOWN = 5;
const MAX_ISSUE = 500;

/**
 * Validates the live model configuration (contract 2.3, architecture: Models). Rejects unknown keys, because a
 * misspelled key would silently mean "no limit". The message names the model ID and the field.
 */
export function readModelConfiguration(document: unknown): ConfigurationReading {
  const parsed = modelConfigurationSchema.safeParse(document);
  if (parsed.success) return { ok: true, configuration: parsed.data };
  const { issues } = parsed.error;
  const lines = issues
    .slice(0, SHOWN)
    .map(({ path, message }) => shortened(`${place(document, path)}: ${message}`));
  const more = issues.length > SHOWN ? ` (and ${issues.length - SHOWN} more)` : '';
  return { ok: false, message: `${lines.join('; ')}${more}` };
}

/** Shortens an issue, which may contain a misspelled key of any length. */
function shortened(issue: string): string {
  return issue.length <= MAX_ISSUE ? issue : `${issue.slice(0, MAX_ISSUE - 1)}…`;
}

/** Describes a path as `model "video-1", durations[0]` instead of `models.3.durations.0`. */
function place(document: unknown, path: readonly PropertyKey[]): string {
  const [first, index, ...rest] = path;
  if (first !== 'models' || typeof index !== 'number') return fieldPath(path) || 'document';
  const id = (document as { models: { id?: unknown }[] }).models[index]?.id;
  const model =
    typeof id === 'string' && id !== '' ? `model "${id.slice(0, 80)}"` : `model number ${index + 1}`;
  return rest.length === 0 ? model : `${model}, ${fieldPath(rest)}`;
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
    )
    .join('');
}
