import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import { type WireFile, type WireMultipartBody } from './wire-body';

/** The parts as a form that streams its files from where they are: 300 MB cost no memory. */
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
