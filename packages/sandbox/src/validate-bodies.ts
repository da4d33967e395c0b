import { fieldText, isJsonObject, type JsonObject, withoutNulls } from './json-value';
import {
  imageModels,
  type SandboxImageModel,
  type SandboxReference,
  type SandboxVideoModel,
  videoModels,
} from './models';
import { type SandboxPart } from './request-log';

const known = ['model', 'prompt', 'duration', 'seconds', 'resolution', 'aspect_ratio'];

/** Returns violations of contract 2.1 and of the model's configuration in a create body. */
export function validateVideo(body: JsonObject): Violation[] {
  const found = [...validateText(body, 'model'), ...validateText(body, 'prompt')];
  for (const [name, value] of Object.entries(body)) {
    if (value === null) found.push(wrong(name, 'is null; leave out fields that have no value'));
  }
  const model = videoModels.find((one) => one.id === body.model);
  if (model === undefined) {
    if (typeof body.model === 'string' && body.model !== '') {
      found.push({ message: 'no such video model', param: 'model', code: 'model_not_found' });
    }
    return found;
  }
  const references = model.references ?? [];
  const allowed = [...known, ...(model.fields ?? []), ...references.map((one) => one.field)];
  for (const name of Object.keys(body)) {
    if (!allowed.includes(name)) found.push(wrong(name, 'is not a field of this model'));
  }
  const given = withoutNulls(body);
  return [
    ...found,
    ...validateDuration(given, model),
    ...validateChoice(given, 'resolution', model.resolutions),
    ...validateChoice(given, 'aspect_ratio', model.aspectRatios),
    ...references.flatMap((reference) => validateReference(given[reference.field], reference)),
    ...validatePaths(given, model),
  ];
}

/** Returns the fields that contain Base64, which, like a local path, may begin with a slash. */
export function base64Fields(model: SandboxVideoModel | undefined): string[] {
  return (model?.references ?? []).filter((one) => one.form === 'base64').map((one) => one.field);
}

/** Checks a required, non-empty string. */
function validateText(body: JsonObject, name: string): Violation[] {
  const value = body[name];
  const good = typeof value === 'string' && value.trim() !== '';
  return good ? [] : [wrong(name, 'must be a non-empty string')];
}

function validateDuration(given: JsonObject, model: SandboxVideoModel): Violation[] {
  const [name, other] = ['duration', 'seconds'].filter((one) => given[one] !== undefined);
  if (name === undefined) return [];
  if (other !== undefined)
    return [{ message: 'duration and seconds are mutually exclusive', param: 'duration' }];
  if (name !== (model.durationField ?? name)) {
    return [{ message: `this model uses ${model.durationField}`, param: name }];
  }
  const value = given[name];
  const text = model.durationForm === 'string';
  const good = text ? typeof value === 'string' && /^\d+$/.test(value) : Number.isInteger(value);
  if (!good) return [wrong(name, `must be an integer${text ? ' as a string' : ''}`)];
  const allowed = Number(value) >= 1 && (model.durations?.includes(Number(value)) ?? true);
  return allowed ? [] : [wrong(name, 'is not allowed by this model', 'invalid_duration')];
}

function validateChoice(given: JsonObject, name: string, choices: string[] | undefined): Violation[] {
  const value = given[name];
  if (value === undefined) return [];
  if (typeof value !== 'string' || value === '') return [wrong(name, 'must be a string')];
  const good = choices?.includes(value) ?? true;
  return good ? [] : [wrong(name, 'is not allowed by this model', `invalid_${name}`)];
}

function validateReference(value: unknown, reference: SandboxReference): Violation[] {
  if (value === undefined) return [];
  const { field, kind, shape, form, max = Infinity } = reference;
  if (Array.isArray(value) !== (shape === 'array')) return [wrong(field, `must be of type ${shape}`)];
  const list: unknown[] = [value].flat();
  if (list.length === 0) return [wrong(field, 'is empty; leave out fields that have no value')];
  if (list.length > max) return [wrong(field, 'has too many references')];
  return list
    .filter((item) => typeof item !== 'string' || !hasForm(item, reference))
    .map(() => wrong(field, `must contain ${kind} references as ${form}`));
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
  // Decodes and encodes again, because a regular expression would be slow on megabytes of text.
  return Buffer.from(text, 'base64').toString('base64') === text;
}

/** One contract violation in a request. */
export interface Violation {
  message: string;
  /** The field that violates it. */
  param?: string;
  code?: string;
}

/** Returns the violation of one field, whose name begins the message. */
function wrong(param: string, what: string, code?: string): Violation {
  return { message: `${param} ${what}`, param, ...(code !== undefined && { code }) };
}

/** The fields of contract 2.3. */
export const generationFields = ['model', 'prompt', 'size', 'quality', 'n', 'response_format'];

/** Returns violations of contract 2.3 and of the model's configuration in a generation body. */
export function validateGeneration(body: JsonObject): Violation[] {
  const found = [...validateText(body, 'model'), ...validateText(body, 'prompt')];
  for (const [name, value] of Object.entries(body)) {
    if (value === null) found.push(wrong(name, 'is null; leave out fields that have no value'));
    if (!generationFields.includes(name)) found.push(wrong(name, 'is not a field of a generation'));
  }
  found.push(...validatePaths(body));
  const model = imageModels.find((one) => one.id === body.model);
  if (model === undefined) return [...found, noSuchModel];
  if (body.n !== undefined && !Number.isInteger(body.n)) found.push(wrong('n', 'must be an integer'));
  return [...found, ...validateValues(withoutNulls(body), model)];
}

/** Returns violations of contract 2.4 and of the model's configuration in an edit's parts. */
export function validateEdit(parts: SandboxPart[]): Violation[] {
  const fields: JsonObject = Object.fromEntries(
    parts.filter((part) => part.kind === 'field').map((part) => [part.name, part.value ?? '']),
  );
  const found = [
    ...validateText(fields, 'model'),
    ...validateText(fields, 'prompt'),
    ...validateParts(parts),
    ...validatePaths(fields),
  ];
  const model = imageModels.find((one) => one.id === fields.model);
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
    found.push(wrong(name, 'is not a field of an edit with this model'));
  }
  if (fields.n !== undefined && !/^[1-9]\d*$/.test(fieldText(fields.n)))
    found.push(wrong('n', 'must be an integer'));
  return [...found, ...validateValues(fields, model)];
}

const noSuchModel: Violation = { message: 'no such image model', param: 'model', code: 'model_not_found' };

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
    if (file !== (part.kind === 'file'))
      found.push(wrong(part.name, `must be a ${file ? 'file' : 'text'} part`));
    if (part.name !== 'image[]' && part.name !== 'image' && count(part.name) > 1)
      found.push(wrong(part.name, 'is repeated'));
    if (part.kind === 'file' && part.bytes === 0)
      found.push({ message: 'the file is empty', param: part.name });
    if (/[\\/]/.test(part.filename ?? ''))
      found.push({ message: 'a file name contains a path', param: part.name });
  }
  return found;
}

function validateValues(given: JsonObject, model: SandboxImageModel): Violation[] {
  const found: Violation[] = [];
  const { size, quality, n, response_format: form } = given;
  if (size !== undefined) {
    const shaped = typeof size === 'string' && (size === 'auto' || /^[1-9]\d*x[1-9]\d*$/.test(size));
    const listed = model.sizes === undefined ? size !== 'auto' : model.sizes.includes(fieldText(size));
    if (!shaped) found.push(wrong('size', 'must be WIDTHxHEIGHT', 'invalid_size'));
    else if (!listed) found.push(wrong('size', 'is not allowed', 'invalid_size'));
  }
  if (quality !== undefined && !model.qualities?.includes(fieldText(quality)))
    found.push(wrong('quality', 'is not allowed', 'invalid_quality'));
  if (n !== undefined && (Number(n) < 1 || Number(n) > (model.maxN ?? Infinity)))
    found.push(wrong('n', 'is not allowed', 'invalid_count'));
  const formats: string[] = model.responseFormats ?? [];
  if (form !== undefined && !formats.includes(fieldText(form)))
    found.push(wrong('response_format', 'is not enabled'));
  return found;
}

/** The pattern of a local path (contract 2.4: never in JSON). JSON Schema patterns have no flag to ignore case. */
export const localPath = /^([Ff][Ii][Ll][Ee]:|[A-Za-z]:[\\/]|\\\\|~[/]|\.{1,2}[/]|[/](?![/]))/;

/** Returns violations for values that look like a local path, except in the prompt and in the model's Base64. */
export function validatePaths(body: JsonObject, model?: SandboxVideoModel): Violation[] {
  const found = localPathFields(body, ['prompt', ...base64Fields(model)]);
  return found.map((field) => wrong(field, 'contains a local file path', 'local_path'));
}

/** Returns the dotted paths of fields with a local path. `skip` names top-level fields. */
function localPathFields(value: unknown, skip: readonly string[], at = ''): string[] {
  if (typeof value === 'string') return localPath.test(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner) => localPathFields(inner, skip, at));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (at === '' && skip.includes(name)) return [];
    return localPathFields(inner, skip, at === '' ? name : `${at}.${name}`);
  });
}
