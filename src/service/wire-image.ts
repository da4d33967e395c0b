import { type ImageEditRequest, type ImageGenerationRequest } from '../domain/request';
import { type ValidationIssue } from '../domain/validation-issue';
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
import { given } from '../domain/given';

/** The JSON of POST /v1/images/generations: only the fields of the widely used images API (C1.4). */
export function wireGenerationBody(request: ImageGenerationRequest): WireBuild<WireJsonBody> {
  const fields = imageFields(request);
  const issues = addRawFields(fields, request.fields);
  return issues.length > 0 ? { ok: false, issues } : { ok: true, body: jsonBody(fields) };
}

/** Parts that must be files (C2.4.4, C2.4.5). */
const FILE_FIELDS: ReadonlySet<string> = new Set(['image', 'image[]', 'mask']);

/**
 * The parts of POST /v1/images/edits (contract 2.4): text parts with `model` first, then `image` for one file or
 * `image[]` for several in the caller's order, then `mask`. File names are generic, media types come from the bytes.
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
      issues.push({ field: `fields.${name}`, message: `${name} is a file: give it as images or mask.` });
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

/** Model, prompt and the given options of an image call, in the order in which they are sent. */
function imageFields(request: ImageGenerationRequest): WireFields {
  const { model, prompt, size, quality, n, responseFormat: response_format } = request;
  return {
    model,
    prompt,
    ...given({ size, quality, n, response_format }),
  };
}
