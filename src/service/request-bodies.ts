import { readFile } from 'node:fs/promises';
import { given, type JsonValue } from '../domain/json';
import { type ReferenceMapping, type VideoModel } from '../domain/model-config';
import {
  type ImageEditRequest,
  type ImageGenerationRequest,
  isDataUrl,
  type ReferenceKind,
  type VideoRequest,
} from '../domain/request';
import { type ValidationIssue } from '../domain/shape';
import {
  addRawFields,
  filePart,
  jsonBody,
  multipartBody,
  textPart,
  type WireBuild,
  type WireFields,
  type WireFile,
  type WireJsonBody,
  type WireMultipartBody,
  type WirePart,
} from './wire-body';

/** A reference with its bytes or with a URL that the service fetches. */
export interface ResolvedReference {
  readonly kind: ReferenceKind;
  readonly field?: string;
  readonly source:
    | { readonly kind: 'url'; readonly url: string }
    | { readonly kind: 'file'; readonly file: WireFile };
}

/**
 * Adds references to the fields or file parts of a video create. The model configuration alone determines the field and
 * the format (a part, Base64, a `data:` URL or a URL).
 */
async function addReferences(
  fields: WireFields,
  files: WirePart[],
  references: readonly ResolvedReference[],
  mappings: readonly ReferenceMapping[],
): Promise<ValidationIssue[]> {
  const issues: ValidationIssue[] = [];
  const values = new Map<ReferenceMapping, JsonValue[]>();
  for (const [index, reference] of references.entries()) {
    const mapping = mappingOf(reference, mappings);
    if ('issue' in mapping) {
      issues.push({ field: `references[${index}]`, ...mapping.issue });
      continue;
    }
    if (mapping.found.form === 'file' && reference.source.kind === 'file') {
      const stem = `${reference.kind}-${index + 1}`;
      files.push(filePart(mapping.found.field, stem, reference.source.file));
      continue;
    }
    const value = await referenceValue(reference, mapping.found);
    if (value === undefined) issues.push(wrongForm(index, mapping.found));
    else values.set(mapping.found, [...(values.get(mapping.found) ?? []), value]);
  }
  for (const [mapping, list] of values) issues.push(...place(fields, mapping, list));
  return issues;
}

function place(fields: WireFields, mapping: ReferenceMapping, list: JsonValue[]): ValidationIssue[] {
  const max = mapping.shape === 'string' ? 1 : mapping.max;
  if (max !== undefined && list.length > max) {
    const message = `The model accepts at most ${max} ${mapping.kind} references in ${mapping.field}.`;
    return [{ field: 'references', message }];
  }
  const there = fields[mapping.field];
  if (mapping.shape === 'array' && Array.isArray(there)) there.push(...list);
  else if (there !== undefined)
    return [
      { field: 'references', message: `${mapping.field} cannot contain references of more than one kind.` },
    ];
  else fields[mapping.field] = mapping.shape === 'array' ? list : (list[0] ?? null);
  return [];
}

function mappingOf(
  reference: ResolvedReference,
  mappings: readonly ReferenceMapping[],
): { found: ReferenceMapping } | { issue: { message: string; allowed?: readonly string[] } } {
  const ofKind = mappings.filter(({ kind }) => kind === reference.kind);
  const fitting =
    reference.field === undefined ? ofKind : ofKind.filter(({ field }) => field === reference.field);
  if (fitting.length === 1 && fitting[0] !== undefined) return { found: fitting[0] };
  if (ofKind.length === 0) {
    const message = `The model configuration (MEDIA_MODELS) does not define a field for ${reference.kind} references.`;
    return { issue: { message } };
  }
  const message =
    'The model does not have this field, or has several for this kind. Set field to one of the allowed values.';
  return { issue: { message, allowed: ofKind.map(({ field }) => field) } };
}

/** Converts a reference to the format that the model requires. Undefined if its source cannot provide that format. */
async function referenceValue(
  { source }: ResolvedReference,
  { form }: ReferenceMapping,
): Promise<string | undefined> {
  if (source.kind === 'url') {
    if (form === 'url' || (form === 'data_url' && isDataUrl(source.url))) return source.url;
    return undefined;
  }
  if (form === 'url' || form === 'file') return undefined;
  const { file } = source;
  const bytes = 'path' in file.source ? await readFile(file.source.path) : Buffer.from(file.source.data);
  const base64 = bytes.toString('base64');
  return form === 'base64' ? base64 : `data:${file.mediaType};base64,${base64}`;
}

function wrongForm(index: number, { form }: ReferenceMapping): ValidationIssue {
  return {
    field: `references[${index}].source`,
    message:
      form === 'url'
        ? 'The model accepts references only as URLs, so a file cannot be sent.'
        : "The model needs the reference's bytes, but this source does not provide them.",
    allowed: form === 'url' ? ['url'] : ['artifact', 'file'],
  };
}

/**
 * Builds the body of POST /v1/videos: JSON, or a form if the model's configuration requires one. Only this function
 * maps video options to wire names; the configuration decides between `seconds` and `duration`. Omits options that are
 * not set.
 */
export async function wireVideoBody(
  request: VideoRequest,
  model: VideoModel | undefined,
  references: readonly ResolvedReference[],
): Promise<WireBuild<WireJsonBody | WireMultipartBody>> {
  const fields: WireFields = { model: request.model, prompt: request.prompt };
  const files: WirePart[] = [];
  if (request.durationSeconds !== undefined) {
    const asText = model?.durationForm === 'string';
    fields[model?.durationField ?? 'seconds'] = asText
      ? String(request.durationSeconds)
      : request.durationSeconds;
  }
  if (request.resolution !== undefined) fields.resolution = request.resolution;
  if (request.aspectRatio !== undefined) fields.aspect_ratio = request.aspectRatio;
  const issues = await addReferences(fields, files, references, model?.references ?? []);
  issues.push(...addRawFields(fields, request.fields));
  if (issues.length > 0) return { ok: false, issues };
  return { ok: true, body: model?.createForm === 'multipart' ? formBody(fields, files) : jsonBody(fields) };
}

/** Puts text parts before files. A list becomes one part per value, with the exact name from the configuration. */
function formBody(fields: WireFields, files: readonly WirePart[]): WireMultipartBody {
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => textPart(name, one)) : [textPart(name, value)],
  );
  return multipartBody([...texts, ...files]);
}

/** Builds the JSON of POST /v1/images/generations with only the fields of the widely used images API. */
export function wireGenerationBody(request: ImageGenerationRequest): WireBuild<WireJsonBody> {
  const fields = imageFields(request);
  const issues = addRawFields(fields, request.fields);
  return issues.length > 0 ? { ok: false, issues } : { ok: true, body: jsonBody(fields) };
}

/** Parts that must be files. */
const FILE_FIELDS: ReadonlySet<string> = new Set(['image', 'image[]', 'mask']);

/**
 * Builds the parts of POST /v1/images/edits (contract 2.4): text parts with `model` first, then `image` for one file or
 * `image[]` for several in the caller's order, then `mask`. File names are generic; media types are detected from the
 * bytes.
 */
export function wireEditBody(
  request: ImageEditRequest,
  images: readonly WireFile[],
  mask?: WireFile,
): WireBuild<WireMultipartBody> {
  const fields = imageFields(request);
  const issues: ValidationIssue[] = addRawFields(fields, request.fields);
  for (const name of Object.keys(request.fields ?? {})) {
    if (FILE_FIELDS.has(name))
      issues.push({
        field: `fields.${name}`,
        message: `${name} is a file. Pass it as images or mask instead.`,
      });
  }
  if (images.length === 0)
    issues.push({ field: 'images', message: 'An edit needs at least one image file.' });
  if (issues.length > 0) return { ok: false, issues };
  const parts: WirePart[] = [
    ...Object.entries(fields).map(([name, value]) => textPart(name, value)),
    ...images.map((file, index) =>
      filePart(images.length === 1 ? 'image' : 'image[]', `image-${index + 1}`, file),
    ),
    ...(mask === undefined ? [] : [filePart('mask', 'mask', mask)]),
  ];
  return { ok: true, body: multipartBody(parts) };
}

/** An image call's model, prompt and options, in the order they are sent. */
function imageFields(request: ImageGenerationRequest): WireFields {
  const { model, prompt, size, quality, n, responseFormat: response_format } = request;
  return { model, prompt, ...given({ size, quality, n, response_format }) };
}
