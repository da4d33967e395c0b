import { type JsonValue } from '../domain/json';
import { type ImageGenerationRequest } from '../domain/request';
import { holdsLocalPath } from '../domain/validate-request';
import { type ValidationIssue } from '../domain/validation-issue';

/** Fields of one request by their wire names, in the order in which they are sent. */
export type WireFields = Record<string, JsonValue>;

/** Wire fields that a request sets with its own options; as raw fields they could contradict them. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'seconds',
  'duration',
  'resolution',
  'aspect_ratio',
  'size',
  'n',
]);

/** Model, prompt and the given options of an image call, in the order in which they are sent. */
export function imageFields(request: ImageGenerationRequest): WireFields {
  return {
    model: request.model,
    prompt: request.prompt,
    ...(request.size === undefined ? {} : { size: request.size }),
    ...(request.quality === undefined ? {} : { quality: request.quality }),
    ...(request.n === undefined ? {} : { n: request.n }),
    ...(request.responseFormat === undefined ? {} : { response_format: request.responseFormat }),
  };
}

/**
 * Merges the caller's raw fields; refuses to replace a field and to add a local path (architecture: Models, C2.4.6).
 */
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
      issues.push({ field: place, message: `${name} is set by the request itself; leave it out of fields.` });
    } else if (holdsLocalPath(value)) {
      issues.push({ field: place, message: LOCAL_PATH });
    } else if (value !== null) {
      fields[name] = value;
    }
  }
  return issues;
}

const LOCAL_PATH =
  'A local path never goes into a request; give the file as {file} or {artifact} where the model takes references.';

/** The JSON body of a video create or an image generation (C4.5, C4.6). */
export interface WireJsonBody {
  readonly kind: 'json';
  readonly json: { readonly [name: string]: JsonValue };
  /** The exact text that is sent. */
  readonly text: string;
  /** Lowercase hexadecimal SHA-256 of the UTF-8 bytes of `text`. */
  readonly bodyHash: string;
}

/** Bytes that the worker can read: a file on this machine, or a buffer. The path never leaves the worker. */
type WireFileSource = { readonly path: string } | { readonly data: Uint8Array };

/** A file that is ready to be sent; the media type is detected from its bytes (C2.5.5). */
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

/** A multipart body: text parts first, files in the caller's order (contract 2.4). */
export interface WireMultipartBody {
  readonly kind: 'multipart';
  readonly parts: readonly WirePart[];
  /** Lowercase hexadecimal SHA-256 over part names, values and file hashes, without boundary and paths. */
  readonly bodyHash: string;
}

/** A body, or why none could be built; nothing was sent. */
export type WireBuild<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };
