import { fieldText, isJsonObject, type JsonObject } from './json-value';
import {
  type SandboxImageModel,
  type SandboxModelDocument,
  type SandboxReference,
  type SandboxVideoModel,
} from './models';
import { type SandboxPart } from './request-log';

const known = ['model', 'prompt', 'duration', 'seconds', 'resolution', 'aspect_ratio'];

/** Returns violations of contract 2.1 and of the model's configuration in a create body. */
export function validateVideo(body: JsonObject, catalog: SandboxModelDocument): Violation[] {
  const found = [...validateText(body, 'model'), ...validateText(body, 'prompt')];
  for (const [name, value] of Object.entries(body)) {
    if (value === null)
      found.push({ message: `${name} is null; leave out fields that have no value`, param: name });
  }
  const model = catalog.models.find((one) => one.id === body.model);
  if (model === undefined || model.kind !== 'video') {
    if (typeof body.model === 'string' && body.model !== '') {
      found.push({ message: 'no such video model', param: 'model', code: 'model_not_found' });
    }
    return found;
  }
  const references = model.references ?? [];
  const allowed = [...known, ...(model.fields ?? []), ...references.map((one) => one.field)];
  for (const name of Object.keys(body)) {
    if (!allowed.includes(name)) found.push({ message: `${name} is not a field of this model`, param: name });
  }
  found.push(
    ...validateDuration(body, model),
    ...validateChoice(body, 'resolution', model.resolutions),
    ...validateChoice(body, 'aspect_ratio', model.aspectRatios),
    ...references.flatMap((reference) => validateReference(body[reference.field], reference)),
  );
  const base64 = references.filter((one) => one.form === 'base64').map((one) => one.field);
  for (const field of localPathFields(body, ['prompt', ...base64])) {
    found.push({ message: `${field} contains a local file path`, param: field, code: 'local_path' });
  }
  return found;
}

/** Checks a required, non-empty string. */
function validateText(body: JsonObject, name: string): Violation[] {
  const value = body[name];
  const good = typeof value === 'string' && value.trim() !== '';
  return good ? [] : [{ message: `${name} must be a non-empty string`, param: name }];
}

function validateDuration(body: JsonObject, model: SandboxVideoModel): Violation[] {
  const given = (['duration', 'seconds'] as const).filter(
    (name) => body[name] !== undefined && body[name] !== null,
  );
  const name = given[0];
  if (name === undefined) return [];
  if (given.length > 1)
    return [{ message: 'duration and seconds are mutually exclusive', param: 'duration' }];
  if (name !== (model.durationField ?? name)) {
    return [{ message: `this model uses ${model.durationField}`, param: name }];
  }
  const value = body[name];
  const form = model.durationForm ?? 'integer';
  const good = form === 'string' ? typeof value === 'string' && /^\d+$/.test(value) : Number.isInteger(value);
  if (!good)
    return [{ message: `${name} must be an integer${form === 'string' ? ' as a string' : ''}`, param: name }];
  if (Number(value) < 1 || !(model.durations?.includes(Number(value)) ?? true)) {
    return [{ message: `${name} is not allowed by this model`, param: name, code: 'invalid_duration' }];
  }
  return [];
}

function validateChoice(body: JsonObject, name: string, choices: string[] | undefined): Violation[] {
  const value = body[name];
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string' || value === '')
    return [{ message: `${name} must be a string`, param: name }];
  const good = choices === undefined || choices.includes(value);
  return good
    ? []
    : [{ message: `${name} is not allowed by this model`, param: name, code: `invalid_${name}` }];
}

function validateReference(value: unknown, reference: SandboxReference): Violation[] {
  if (value === undefined || value === null) return [];
  const param = reference.field;
  const isList = Array.isArray(value);
  if (isList !== (reference.shape === 'array'))
    return [{ message: `${param} must be of type ${reference.shape}`, param }];
  const list: unknown[] = isList ? value : [value];
  if (list.length === 0)
    return [{ message: `${param} is empty; leave out fields that have no value`, param }];
  if (list.length > (reference.max ?? Infinity))
    return [{ message: `${param} has too many references`, param }];
  return list
    .filter((item) => typeof item !== 'string' || !hasForm(item, reference))
    .map(() => ({
      message: `${param} must contain ${reference.kind} references as ${reference.form}`,
      param,
    }));
}

function hasForm(text: string, reference: SandboxReference): boolean {
  switch (reference.form) {
    case 'url':
      return /^https?:\/\/[^/\s]+/.test(text);
    case 'data_url':
      return text.startsWith(`data:${reference.kind}/`) && isBase64(text.slice(text.indexOf(';base64,') + 8));
    case 'base64':
      return isBase64(text);
  }
}

function isBase64(text: string): boolean {
  if (text.length < 16 || text.length % 4 !== 0) return false;
  // This is a round trip, because a regular expression would be slow on megabytes of text.
  return Buffer.from(text, 'base64').toString('base64') === text;
}

/** One contract violation in a request. */
export interface Violation {
  message: string;
  /** The field that violates it. */
  param?: string;
  code?: string;
}

const optional = ['size', 'quality', 'n', 'response_format'];

/** Returns violations of contract 2.3 and of the model's configuration in a generation body. */
export function validateGeneration(body: JsonObject, catalog: SandboxModelDocument): Violation[] {
  const found = [...validateText(body, 'model'), ...validateText(body, 'prompt')];
  for (const [name, value] of Object.entries(body)) {
    if (value === null)
      found.push({ message: `${name} is null; leave out fields that have no value`, param: name });
    if (!['model', 'prompt', ...optional].includes(name)) {
      found.push({ message: `${name} is not a field of a generation`, param: name });
    }
  }
  for (const field of localPathFields(body, ['prompt'])) {
    found.push({ message: `${field} contains a local file path`, param: field, code: 'local_path' });
  }
  const model = findImageModel(body.model, catalog);
  if (model === undefined) return [...found, noSuchModel];
  if (body.n !== undefined && !Number.isInteger(body.n))
    found.push({ message: 'n must be an integer', param: 'n' });
  return [...found, ...validateValues(body, model)];
}

/** Returns violations of contract 2.4 and of the model's configuration in an edit's parts. */
export function validateEdit(parts: SandboxPart[], catalog: SandboxModelDocument): Violation[] {
  const fields: JsonObject = Object.fromEntries(
    parts.filter((part) => part.kind === 'field').map((part) => [part.name, part.value ?? '']),
  );
  const found = [
    ...validateText(fields, 'model'),
    ...validateText(fields, 'prompt'),
    ...validateParts(parts),
  ];
  for (const field of localPathFields(fields, ['prompt'])) {
    found.push({ message: `${field} contains a local file path`, param: field, code: 'local_path' });
  }
  const model = findImageModel(fields.model, catalog);
  if (model === undefined) return [...found, noSuchModel];
  if (model.edit === undefined)
    return [...found, { message: 'this model does not support edits', param: 'model' }];
  if (parts.some((part) => part.name === 'mask') && model.edit.mask !== true) {
    found.push({ message: 'this model does not support masks', param: 'mask', code: 'mask_not_supported' });
  }
  const images = parts.filter((part) => part.name === 'image' || part.name === 'image[]');
  if (images.length > (model.edit.maxImages ?? Infinity))
    found.push({ message: 'too many images', param: 'image' });
  for (const name of Object.keys(fields)) {
    if (name === 'model' || name === 'prompt' || model.edit.fields?.includes(name)) continue;
    found.push({ message: `${name} is not a field of an edit with this model`, param: name });
  }
  if (fields.n !== undefined && !/^[1-9]\d*$/.test(fieldText(fields.n))) {
    found.push({ message: 'n must be an integer', param: 'n' });
  }
  return [...found, ...validateValues(fields, model)];
}

const noSuchModel: Violation = { message: 'no such image model', param: 'model', code: 'model_not_found' };

function findImageModel(id: unknown, catalog: SandboxModelDocument): SandboxImageModel | undefined {
  const model = catalog.models.find((one) => one.id === id);
  return model?.kind === 'image' ? model : undefined;
}

/** Checks names, kinds, counts and order of the parts. */
function validateParts(parts: SandboxPart[]): Violation[] {
  const found: Violation[] = [];
  const firstFile = parts.findIndex((part) => part.kind === 'file');
  if (parts[0] !== undefined && parts[0].name !== 'model')
    found.push({ message: 'model must be the first part' });
  if (firstFile >= 0 && parts.slice(firstFile).some((part) => part.kind === 'field')) {
    found.push({ message: 'text parts must come before file parts' });
  }
  const count = (name: string): number => parts.filter((part) => part.name === name).length;
  const [single, several] = [count('image'), count('image[]')];
  if (single + several === 0) found.push({ message: 'at least one image is required', param: 'image' });
  if (single > 0 && several > 0)
    found.push({ message: 'image and image[] are mutually exclusive', param: 'image' });
  if (single > 1) found.push({ message: 'several images must be sent as image[]', param: 'image' });
  if (several === 1 && single === 0)
    found.push({ message: 'a single image must be sent as image', param: 'image[]' });
  for (const part of parts) {
    const file = ['image', 'image[]', 'mask'].includes(part.name);
    if (file !== (part.kind === 'file')) {
      found.push({ message: `${part.name} must be a ${file ? 'file' : 'text'} part`, param: part.name });
    }
    if (part.name !== 'image[]' && part.name !== 'image' && count(part.name) > 1) {
      found.push({ message: `${part.name} is repeated`, param: part.name });
    }
    if (part.kind === 'file' && part.bytes === 0)
      found.push({ message: 'the file is empty', param: part.name });
    if (/[\\/]/.test(part.filename ?? ''))
      found.push({ message: 'a file name contains a path', param: part.name });
  }
  return found;
}

function validateValues(body: JsonObject, model: SandboxImageModel): Violation[] {
  const found: Violation[] = [];
  const { size, quality, n } = body;
  if (size !== undefined && size !== null) {
    const shaped = typeof size === 'string' && (size === 'auto' || /^[1-9]\d*x[1-9]\d*$/.test(size));
    const listed = model.sizes === undefined ? size !== 'auto' : model.sizes.includes(fieldText(size));
    if (!shaped) found.push({ message: 'size must be WIDTHxHEIGHT', param: 'size', code: 'invalid_size' });
    else if (!listed) found.push({ message: 'size is not allowed', param: 'size', code: 'invalid_size' });
  }
  if (quality !== undefined && quality !== null && !model.qualities?.includes(fieldText(quality))) {
    found.push({ message: 'quality is not allowed', param: 'quality', code: 'invalid_quality' });
  }
  if (n !== undefined && n !== null && (Number(n) < 1 || Number(n) > (model.maxN ?? Infinity))) {
    found.push({ message: 'n is not allowed', param: 'n', code: 'invalid_count' });
  }
  const form = body.response_format;
  if (
    form !== undefined &&
    form !== null &&
    !(model.responseFormats as string[] | undefined)?.includes(fieldText(form))
  ) {
    found.push({ message: 'response_format is not enabled', param: 'response_format' });
  }
  return found;
}

const localPath = /^(file:|[a-z]:[\\/]|\\\\|~\/|\.{1,2}\/|\/(?!\/))/i;

/**
 * Returns the dotted paths of fields whose value looks like a local path (contract 2.4: never in JSON). `skip` names
 * top-level fields with free text, or with Base64, which may begin with a slash.
 */
export function localPathFields(value: unknown, skip: readonly string[], at = ''): string[] {
  if (typeof value === 'string') return localPath.test(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner) => localPathFields(inner, skip, at));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (at === '' && skip.includes(name)) return [];
    return localPathFields(inner, skip, at === '' ? name : `${at}.${name}`);
  });
}
