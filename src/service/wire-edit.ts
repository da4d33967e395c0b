import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import { type ImageEditRequest } from '../domain/request';
import { type ValidationIssue } from '../domain/validation-issue';
import {
  addRawFields,
  imageFields,
  type WireBuild,
  type WireFile,
  type WireMultipartBody,
  type WirePart,
} from './wire-body';
import { filePart, multipartBody, textPart } from './wire-parts';

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

/** A form that streams its files from their location: 300 MB use no memory. */
export async function toFormData(body: WireMultipartBody): Promise<FormData> {
  const form = new FormData();
  for (const part of body.parts) {
    if (part.kind === 'text') form.append(part.name, part.value);
    else form.append(part.name, await toBlob(part.file), part.fileName);
  }
  return form;
}

async function toBlob({ source, mediaType }: WireFile): Promise<Blob> {
  if ('path' in source) return openAsBlob(source.path, { type: mediaType });
  return new Blob([source.data as Uint8Array<ArrayBuffer>], { type: mediaType });
}
