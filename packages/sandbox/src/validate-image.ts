import { validateText, type Violation } from './validate-video';
import { type JsonObject, fieldText } from './json-value';
import { localPathFields, type SandboxPart } from './sandbox-request';
import { type SandboxImageModel, type SandboxModelDocument } from './models';

const optional = ['size', 'quality', 'n', 'response_format'];

/** Violations of contract 2.3 and of the model's configuration in a generation body. */
export function validateGeneration(body: JsonObject, catalog: SandboxModelDocument): Violation[] {
  const found = [...validateText(body, 'model'), ...validateText(body, 'prompt')];
  for (const [name, value] of Object.entries(body)) {
    if (value === null)
      found.push({ message: `${name} is null; a field not given is left out`, param: name });
    if (!['model', 'prompt', ...optional].includes(name)) {
      found.push({ message: `${name} is no field of a generation`, param: name });
    }
  }
  for (const field of localPathFields(body, ['prompt'])) {
    found.push({ message: `${field} holds a local file path`, param: field, code: 'local_path' });
  }
  const model = findImageModel(body.model, catalog);
  if (model === undefined) return [...found, noSuchModel];
  if (body.n !== undefined && !Number.isInteger(body.n))
    found.push({ message: 'n must be an integer', param: 'n' });
  return [...found, ...validateValues(body, model)];
}

/** Violations of contract 2.4 and of the model's configuration in the parts of an edit. */
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
    found.push({ message: `${field} holds a local file path`, param: field, code: 'local_path' });
  }
  const model = findImageModel(fields.model, catalog);
  if (model === undefined) return [...found, noSuchModel];
  if (model.edit === undefined) return [...found, { message: 'this model has no edits', param: 'model' }];
  if (parts.some((part) => part.name === 'mask') && model.edit.mask !== true) {
    found.push({ message: 'this model takes no mask', param: 'mask', code: 'mask_not_supported' });
  }
  const images = parts.filter((part) => part.name === 'image' || part.name === 'image[]');
  if (images.length > (model.edit.maxImages ?? Infinity))
    found.push({ message: 'too many images', param: 'image' });
  for (const name of Object.keys(fields)) {
    if (name === 'model' || name === 'prompt' || model.edit.fields?.includes(name)) continue;
    found.push({ message: `${name} is no field of an edit with this model`, param: name });
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
    found.push({ message: 'image and image[] exclude each other', param: 'image' });
  if (single > 1) found.push({ message: 'several images go as image[]', param: 'image' });
  if (several === 1 && single === 0)
    found.push({ message: 'a single image goes as image', param: 'image[]' });
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
      found.push({ message: 'a file name holds a path', param: part.name });
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
