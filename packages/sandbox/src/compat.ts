import { isJsonObject, type JsonObject, fieldText, withoutNulls } from './json-value';
import { nominalSize, readNominalSize } from './media-store';
import { videoModels } from './models';
import { type CompatLinks, dialectOf } from './options';
import { type SandboxPart } from './request-log';
import {
  failureFields,
  type FailureKind,
  mergeRecord,
  progressOf,
  type SandboxTask,
  statusAt,
  usageOf,
  videoSpecOf,
} from './tasks';
import {
  generationFields,
  validateEdit,
  validateGeneration,
  validatePaths,
  validateVideo,
  type Violation,
} from './validate-bodies';

/*
 * Requests from published clients are converted to the format that `strict` expects, then validated in the same way.
 * Fields outside that format are ignored, and parts may have any name and order, but the limits in the model's
 * configuration still apply.
 */

const imageNames = ['image', 'image[]'];

/** Returns violations in a create that `compatCreate` converted. */
export function validateCompatVideo(body: JsonObject): Violation[] {
  const video = videoModels.find((one) => one.id === body.model);
  const seconds = body.seconds ?? body.duration;
  const duration =
    seconds === undefined
      ? {}
      : {
          [video?.durationField ?? 'seconds']:
            video?.durationForm === 'string' ? fieldText(seconds) : seconds,
        };
  const found = validateVideo({
    ...picked(body, ['model', 'prompt', 'resolution', 'aspect_ratio']),
    ...duration,
  });
  if (body.size !== undefined && readNominalSize(fieldText(body.size)) === undefined) {
    found.push({ message: 'size is not allowed by this model', param: 'size', code: 'invalid_size' });
  }
  return [...found, ...validatePaths(body, video)];
}

/** Returns violations in a generation that `compatGeneration` converted. */
export function validateCompatGeneration(body: JsonObject): Violation[] {
  return validateGeneration(picked(body, generationFields));
}

/** Returns violations in an edit, regardless of the order of its parts and the names of its images. */
export function validateCompatEdit(parts: readonly SandboxPart[]): Violation[] {
  const texts = parts.filter((part) => part.kind === 'field' && generationFields.includes(part.name));
  const images = parts.filter((part) => part.kind === 'file' && imageNames.includes(part.name));
  const mask = parts.filter((part) => part.name === 'mask');
  const name = images.length === 1 ? 'image' : 'image[]';
  return validateEdit([
    ...texts.filter((part) => part.name === 'model'),
    ...texts.filter((part) => part.name !== 'model'),
    ...images.map((part) => ({ ...part, name })),
    ...mask,
  ]);
}

function picked(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

/** What a task's record depends on, besides the task. */
interface CompatRecordContext {
  /** `minimal`: exactly the keys in the published videos API. */
  records: 'minimal' | 'full';
  linkTtlMs: number;
  links: () => CompatLinks;
}

/**
 * Returns a task's record in `compat` mode: every key in the published videos API, with null for a missing value, and
 * the fields that services in this family add (a result URL, usage, `task_id`).
 */
export function compatRecord(task: SandboxTask, now: number, context: CompatRecordContext): JsonObject {
  const dialect = dialectOf(task.model);
  const status = statusAt(task, now);
  const spec = videoSpecOf(task, true);
  const done = status === 'completed' || status === 'failed';
  const endedAt = Math.floor((task.createdAt + task.queuedMs + task.runningMs) / 1000);
  const record: JsonObject = {
    id: task.id,
    object: 'video',
    created_at: Math.floor(task.createdAt / 1000),
    completed_at: status === 'completed' ? endedAt : null,
    error: null,
    expires_at: status === 'completed' ? endedAt + Math.floor(context.linkTtlMs / 1000) : null,
    model: task.model,
    progress: progressOf(task, now).progress ?? null,
    prompt: task.prompt,
    remixed_from_video_id: null,
    seconds: String(spec.seconds),
    size: nominalSize(spec),
    status: dialect.statusWords[status],
  };
  if (status === 'failed') Object.assign(record, task.failure);
  if (context.records === 'full') {
    if (dialect.errors === 'flat') record.task_id = task.id;
    if (status === 'completed') Object.assign(record, dialect.result(context.links()));
    record.usage = done ? (usageOf(task).usage ?? null) : null;
  }
  return mergeRecord(record, task.record ?? {});
}

/**
 * Reads the fields of a multipart body as published clients write them: `a[]` and repeated names are lists, and `a[b]`
 * is an object's field. A file is represented by its type, size and hash.
 */
export function formFields(parts: readonly SandboxPart[]): JsonObject {
  const body: JsonObject = {};
  for (const part of parts) {
    const { kind, contentType, bytes, sha256 } = part;
    const value = kind === 'field' ? (part.value ?? '') : { contentType, bytes, sha256 };
    const [, name = part.name, inner] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(part.name) ?? [];
    const old = Object.hasOwn(body, name) ? body[name] : undefined;
    if (inner === undefined) set(body, name, old === undefined ? value : [old, value].flat());
    else if (inner === '') set(body, name, [old ?? [], value].flat());
    else set(body, name, { ...(isJsonObject(old) ? old : {}), [inner]: value });
  }
  return body;
}

/**
 * Converts a create from a published client to the contract's terms: no nulls, numbers as numbers, `size` as its two
 * parts.
 */
export function compatCreate(body: JsonObject): JsonObject {
  const given = withoutNulls(body);
  const size = typeof given.size === 'string' ? readNominalSize(given.size) : undefined;
  return {
    ...(size === undefined ? {} : { resolution: size.resolution, aspect_ratio: size.aspectRatio }),
    ...given,
    ...numbers(given, ['seconds', 'duration']),
  };
}

/** Converts a generation from a published client to the contract's terms. */
export function compatGeneration(body: JsonObject): JsonObject {
  const given = withoutNulls(body);
  return { ...given, ...numbers(given, ['n']) };
}

/** Converts numbers that were sent as strings. */
function numbers(body: JsonObject, names: readonly string[]): JsonObject {
  const texts = names.filter((name) => typeof body[name] === 'string' && /^\d{1,9}$/.test(body[name]));
  return Object.fromEntries(texts.map((name) => [name, Number(body[name])]));
}

/** Sets an own property, even if its name is `__proto__`. */
function set(body: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(body, name, { value, enumerable: true, writable: true, configurable: true });
}

/** The published shape of a failure: `code` and `message`, both strings. */
const published: Record<FailureKind, { code: string; message: string }> = {
  moderation: { code: 'moderation_blocked', message: 'The request was blocked by our moderation system.' },
  capacity: { code: 'ServerOverloaded', message: 'The service is overloaded, try again later.' },
  invalid: { code: 'InvalidParameter', message: 'The reference image could not be decoded.' },
  quota: { code: 'QuotaExceeded', message: 'Your quota is used up.' },
  unknown: { code: 'video_generation_failed', message: 'An unexpected error occurred.' },
};

/**
 * Returns a function that creates the fields of a failed record in `compat` mode, for one model. Its `turn` argument
 * selects one of the shapes.
 */
export function compatFailure(model: string): (kind: FailureKind, turn: number) => JsonObject {
  return dialectOf(model).failures === 'published'
    ? (kind) => ({ error: { ...published[kind] } })
    : failureFields;
}
