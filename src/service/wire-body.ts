import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import { type JsonValue } from '../domain/json';
import { type ValidationIssue } from '../domain/shape';
import { CREATE_FIELDS, holdsLocalPath } from '../domain/validate-request';

/** The JSON body of a video create or image generation. */
export interface WireJsonBody {
  readonly kind: 'json';
  readonly json: { readonly [name: string]: JsonValue };
  /** The exact text that is sent. */
  readonly text: string;
  /** Lowercase hexadecimal SHA-256 of the UTF-8 bytes of `text`. */
  readonly bodyHash: string;
}

/** Bytes that the worker can read: a local file or a buffer. The path never leaves the worker. */
type WireFileSource = { readonly path: string } | { readonly data: Uint8Array };

/** A file that is ready to send. Its media type was detected from its bytes. */
export interface WireFile {
  readonly source: WireFileSource;
  readonly mediaType: string;
  /** Lowercase hexadecimal SHA-256 of the bytes. */
  readonly sha256: string;
  readonly bytes: number;
}

export type WirePart =
  | { readonly kind: 'text'; readonly name: string; readonly value: string }
  | { readonly kind: 'file'; readonly name: string; readonly fileName: string; readonly file: WireFile };

/** A multipart body: text parts first, then files in the caller's order (contract 2.4). */
export interface WireMultipartBody {
  readonly kind: 'multipart';
  readonly parts: readonly WirePart[];
  /** Lowercase hexadecimal SHA-256 of part names, values and file hashes, without the boundary and paths. */
  readonly bodyHash: string;
}

/** A body, or the reasons why it could not be built. Nothing was sent. */
export type WireBuild<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/** A request's fields by wire name, in the order they are sent. */
export type WireFields = Record<string, JsonValue>;

/** Wire fields that have options of their own in a request. Raw fields must not contradict those options. */
const OWN_FIELDS: ReadonlySet<string> = new Set([...CREATE_FIELDS, 'size', 'n']);

/** Merges the caller's raw fields. Refuses to replace a field or to add a local path (architecture: Models). */
export function addRawFields(
  fields: WireFields,
  raw: { readonly [name: string]: JsonValue } | undefined,
): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const [name, value] of Object.entries(raw ?? {})) {
    const place = `fields.${name}`;
    if (name === '' || name === '__proto__') {
      issues.push({ field: 'fields', message: 'A field needs a name.' });
    } else if (OWN_FIELDS.has(name) || Object.hasOwn(fields, name)) {
      issues.push({ field: place, message: `The request already sets ${name}. Remove it from fields.` });
    } else if (holdsLocalPath(value)) {
      issues.push({ field: place, message: LOCAL_PATH });
    } else if (value !== null) {
      fields[name] = value;
    }
  }
  return issues;
}

const LOCAL_PATH =
  'A local path is never sent. Pass the file as {file} or {artifact} where the model accepts references.';

export function jsonBody(fields: WireFields): WireJsonBody {
  const text = JSON.stringify(fields);
  return { kind: 'json', json: fields, text, bodyHash: createHash('sha256').update(text).digest('hex') };
}

const EXTENSIONS: { readonly [mediaType: string]: string } = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
};

/** Creates one part for a field. A value that is not text is sent as JSON. */
export function textPart(name: string, value: JsonValue): WirePart {
  return { kind: 'text', name, value: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** Creates one part for a file. The file name is generic, because the user's file names are private. */
export function filePart(name: string, stem: string, file: WireFile): WirePart {
  return { kind: 'file', name, fileName: `${stem}.${EXTENSIONS[file.mediaType] ?? 'bin'}`, file };
}

export function multipartBody(parts: readonly WirePart[]): WireMultipartBody {
  return { kind: 'multipart', parts, bodyHash: hashOf(parts) };
}

/** Hashes one line of JSON per part, so the hash does not depend on the boundary. */
function hashOf(parts: readonly WirePart[]): string {
  const lines = parts.map((part) => {
    if (part.kind === 'text') return JSON.stringify([part.name, part.value]);
    return JSON.stringify([part.name, part.fileName, part.file.mediaType, part.file.sha256]);
  });
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** Creates a form that streams its files from disk, so 300 MB take no memory. */
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
