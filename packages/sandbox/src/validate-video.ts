import { type JsonObject } from './json-value';
import { type SandboxModelDocument, type SandboxReference, type SandboxVideoModel } from './models';
import { localPathFields } from './sandbox-request';

const known = ['model', 'prompt', 'duration', 'seconds', 'resolution', 'aspect_ratio'];

/** Violations of contract 2.1 and of the model's configuration in a create body. */
export function validateVideo(body: JsonObject, catalog: SandboxModelDocument): Violation[] {
  const found = [...validateText(body, 'model'), ...validateText(body, 'prompt')];
  for (const [name, value] of Object.entries(body)) {
    if (value === null)
      found.push({ message: `${name} is null; a field not given is left out`, param: name });
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
    if (!allowed.includes(name)) found.push({ message: `${name} is no field of this model`, param: name });
  }
  found.push(
    ...validateDuration(body, model),
    ...validateChoice(body, 'resolution', model.resolutions),
    ...validateChoice(body, 'aspect_ratio', model.aspectRatios),
    ...references.flatMap((reference) => validateReference(body[reference.field], reference)),
  );
  const base64 = references.filter((one) => one.form === 'base64').map((one) => one.field);
  for (const field of localPathFields(body, ['prompt', ...base64])) {
    found.push({ message: `${field} holds a local file path`, param: field, code: 'local_path' });
  }
  return found;
}

/** Checks a required, non-empty string. */
export function validateText(body: JsonObject, name: string): Violation[] {
  const value = body[name];
  const good = typeof value === 'string' && value.trim() !== '';
  return good ? [] : [{ message: `${name} must be a text that is not empty`, param: name }];
}

function validateDuration(body: JsonObject, model: SandboxVideoModel): Violation[] {
  const given = (['duration', 'seconds'] as const).filter(
    (name) => body[name] !== undefined && body[name] !== null,
  );
  const name = given[0];
  if (name === undefined) return [];
  if (given.length > 1) return [{ message: 'duration and seconds exclude each other', param: 'duration' }];
  if (name !== (model.durationField ?? name)) {
    return [{ message: `this model takes ${model.durationField}`, param: name }];
  }
  const value = body[name];
  const form = model.durationForm ?? 'integer';
  const good = form === 'string' ? typeof value === 'string' && /^\d+$/.test(value) : Number.isInteger(value);
  if (!good)
    return [{ message: `${name} must be an integer${form === 'string' ? ' as a text' : ''}`, param: name }];
  if (Number(value) < 1 || !(model.durations?.includes(Number(value)) ?? true)) {
    return [{ message: `${name} is not allowed by this model`, param: name, code: 'invalid_duration' }];
  }
  return [];
}

function validateChoice(body: JsonObject, name: string, choices: string[] | undefined): Violation[] {
  const value = body[name];
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string' || value === '') return [{ message: `${name} must be a text`, param: name }];
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
    return [{ message: `${param} must be of shape ${reference.shape}`, param }];
  const list: unknown[] = isList ? value : [value];
  if (list.length === 0) return [{ message: `${param} is empty; a field not given is left out`, param }];
  if (list.length > (reference.max ?? Infinity))
    return [{ message: `${param} has too many references`, param }];
  return list
    .filter((item) => typeof item !== 'string' || !hasForm(item, reference))
    .map(() => ({ message: `${param} must hold ${reference.kind} references as ${reference.form}`, param }));
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
  // A round trip instead of a regular expression, which would be slow on megabytes.
  return Buffer.from(text, 'base64').toString('base64') === text;
}

/** One violation of the contract in a request. */
export interface Violation {
  message: string;
  /** The field that violates it. */
  param?: string;
  code?: string;
}
