import { type JsonValue } from './json';
import { unseenDifference } from './near-names';
import {
  EDIT_REQUEST_SHAPE,
  IMAGE_REQUEST_SHAPE,
  type ImageEditRequest,
  type ImageGenerationRequest,
  isArtifactRef,
  isDataUrl,
  MAX_INLINE_DATA_URL,
  type PaidOperation,
  type PaidRequest,
  REFERENCE_KINDS,
  REFERENCE_SHAPE,
  type ReferenceKind,
  SOURCE_SHAPE,
  VIDEO_REQUEST_SHAPE,
  type VideoRequest,
} from './request';
import { isObject, namesOf, type Shape, shapeIssue, type ValidationIssue } from './shape';

/**
 * `<WIDTH>x<HEIGHT>` in ASCII digits with a lowercase x and without signs, spaces or leading zeros. There is no maximum
 * size (C8.8).
 */
const SIZE = /^[1-9][0-9]*x[1-9][0-9]*$/;

/**
 * Checks the contract rules that need no model configuration, and returns all issues; an empty list means valid. Pure,
 * so workflows, clients and workers reject the same requests before anything is sent. Never throws, no matter what an
 * untyped caller passes, because an exception in workflow code would block the execution.
 */
export function validateRequest(paid: PaidRequest): ValidationIssue[] {
  const { request } = paid;
  if (!isObject(request)) return [{ field: 'request', message: 'The request must be an object.' }];
  // Unknown keys come first, because a missing field may be present under another name.
  const issues = [...unknownRequestKeys(paid), ...validateModelAndPrompt(request), ...validateTexts(request)];
  if (paid.operation === 'create_video') issues.push(...validateVideo(paid.request));
  else issues.push(...validateImage(paid.request));
  if (paid.operation === 'edit_image') issues.push(...validateEditFiles(paid.request));
  return issues;
}

const REQUEST_SHAPES: { readonly [operation in PaidOperation]: Shape } = {
  create_video: VIDEO_REQUEST_SHAPE,
  generate_image: IMAGE_REQUEST_SHAPE,
  edit_image: EDIT_REQUEST_SHAPE,
};

const WAY_OUT = 'To pass a field that only the service knows, put it into fields under its own name.';

function unknownRequestKeys({ operation, request }: PaidRequest): ValidationIssue[] {
  const unknown = shapeIssue(request, REQUEST_SHAPES[operation], 'request');
  return [
    ...(unknown === undefined ? [] : [{ ...unknown, message: `${unknown.message} ${WAY_OUT}` }]),
    ...unknownInList(request, 'references', REFERENCE_SHAPE),
    ...unknownInList(request, 'images', SOURCE_SHAPE),
  ];
}

function unknownInList(request: object, name: 'references' | 'images', shape: Shape): ValidationIssue[] {
  const list: unknown = (request as { readonly [name: string]: unknown })[name];
  if (!Array.isArray(list)) return [];
  return list.flatMap((one, place) => namesOf(shape)(one, `request.${name}[${place}]`) ?? []);
}

function validateModelAndPrompt(request: { model: unknown; prompt: unknown }): ValidationIssue[] {
  return (['model', 'prompt'] as const).flatMap((field) => {
    const value = request[field];
    if (typeof value === 'string' && value.trim() !== '') return [];
    return [{ field, message: `${field} is required and must not be empty.` }];
  });
}

/** Half of a surrogate pair. UTF-8 cannot encode it, so the service would receive a different character. */
const HALF = /\p{Cs}/u;

function validateTexts(request: object): ValidationIssue[] {
  const { fields, ...others } = request as { readonly [name: string]: unknown };
  const given = Object.entries(isObject(fields) ? fields : {}).map(([name, value]) => [
    `fields.${name}`,
    [name, value],
  ]);
  return [...Object.entries(others), ...given].flatMap(([field, value]) => {
    const text = textsIn(value).find((one) => HALF.test(one));
    if (text === undefined) return [];
    const at = text.search(HALF);
    const code = text.charCodeAt(at).toString(16).toUpperCase();
    const message = `The text contains half of a surrogate pair (U+${code} at character ${at + 1}), such as part of a truncated emoji. The service would receive a different character. Remove it, or write the complete character.`;
    return [{ field: field as string, message }];
  });
}

function validateVideo(request: VideoRequest): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const { durationSeconds } = request;
  if (durationSeconds !== undefined && (!Number.isInteger(durationSeconds) || durationSeconds < 1)) {
    const message = 'durationSeconds must be a whole number of seconds, at least 1.';
    issues.push({ field: 'durationSeconds', message });
  }
  for (const field of ['resolution', 'aspectRatio'] as const)
    issues.push(...emptyString(field, request[field]));
  const references: unknown = request.references === undefined ? [] : request.references;
  if (!Array.isArray(references))
    return [...issues, { field: 'references', message: 'references must be a list.' }];
  references.forEach((reference: unknown, index) => {
    const field = `references[${index}]`;
    if (!isObject(reference))
      return void issues.push({ field, message: 'A reference must be {kind, source}.' });
    if (!REFERENCE_KINDS.includes(reference['kind'] as ReferenceKind)) {
      issues.push({
        field: `${field}.kind`,
        message: `A reference must be an image, a video or audio.${unseenDifference(reference['kind'], REFERENCE_KINDS)}`,
        allowed: REFERENCE_KINDS,
      });
    }
    issues.push(...validateSource(`${field}.source`, reference['source']));
  });
  return issues;
}

function validateImage(request: ImageGenerationRequest): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  const { size, n, responseFormat } = request;
  if (size !== undefined && size !== 'auto' && !(typeof size === 'string' && SIZE.test(size))) {
    issues.push({
      field: 'size',
      message:
        'size must be WIDTHxHEIGHT in digits with a lowercase x, for example 1024x1024, or auto if the model supports it.',
    });
  }
  if (n !== undefined && (!Number.isInteger(n) || n < 1)) {
    issues.push({ field: 'n', message: 'n must be a whole number, at least 1.' });
  }
  issues.push(...emptyString('quality', request.quality));
  if (responseFormat !== undefined && responseFormat !== 'url' && responseFormat !== 'b64_json') {
    const allowed = ['url', 'b64_json'];
    const message = `responseFormat must be url or b64_json.${unseenDifference(responseFormat, allowed)}`;
    issues.push({ field: 'responseFormat', message, allowed });
  }
  return issues;
}

function validateEditFiles(request: ImageEditRequest): ValidationIssue[] {
  if (!Array.isArray(request.images) || request.images.length === 0) {
    return [{ field: 'images', message: 'An edit needs at least one image file.' }];
  }
  const issues = request.images.flatMap((image: unknown, index) => validateSource(`images[${index}]`, image));
  return request.mask === undefined ? issues : [...issues, ...validateSource('mask', request.mask)];
}

function emptyString(field: string, value: unknown): ValidationIssue[] {
  if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return [];
  return [{ field, message: `${field} must be a non-empty string, or omitted.` }];
}

function validateSource(field: string, source: unknown): ValidationIssue[] {
  const wrong = (message: string) => [{ field, message }];
  if (!isObject(source)) return wrong(SOURCE_HINT);
  if ('artifact' in source) {
    if (isArtifactRef(source['artifact'])) return [];
    return wrong('artifact must be {uri, mediaType, bytes, sha256} of a stored file.');
  }
  if ('file' in source)
    return typeof source['file'] === 'string' && source['file'] !== '' ? [] : wrong('file must be a path.');
  const url = source['url'];
  if (typeof url !== 'string') return wrong(SOURCE_HINT);
  if (isDataUrl(url)) {
    const message = `A data: URL can be at most ${MAX_INLINE_DATA_URL} characters long. Store the file as an artifact instead.`;
    return url.length <= MAX_INLINE_DATA_URL ? [] : wrong(message);
  }
  // Uses no URL parser: a value without http(s) is a path or has another scheme, and neither may be sent in JSON.
  if (!/^https?:\/\/[^/\s]+/i.test(url) || /\s/.test(url))
    return wrong(
      'A reference URL must start with https:// or http://. Pass a local file as {file} or {artifact}, never as a URL.',
    );
  return [];
}

const SOURCE_HINT = 'A source must be {artifact}, {url} or {file}.';

const IMAGE_FIELDS = {
  model: 'model',
  prompt: 'prompt',
  size: 'size',
  quality: 'quality',
  n: 'n',
  response_format: 'responseFormat',
} as const;

/** Wire names that have their own request field. `fields` must not repeat them. */
const COVERED = {
  create_video: {
    model: 'model',
    prompt: 'prompt',
    seconds: 'durationSeconds',
    duration: 'durationSeconds',
    resolution: 'resolution',
    aspect_ratio: 'aspectRatio',
  },
  generate_image: IMAGE_FIELDS,
  edit_image: { ...IMAGE_FIELDS, image: 'images', 'image[]': 'images', mask: 'mask' },
} as const satisfies { readonly [operation: string]: { readonly [wireName: string]: string } };

/** Wire names of a create's options. */
export const CREATE_FIELDS: readonly string[] = Object.keys(COVERED.create_video);

interface RawFieldRules {
  readonly operation: keyof typeof COVERED;
  /** Wire names that references of this request already use. */
  readonly used?: readonly string[];
  /** Field names listed in the model's configuration; undefined if it has no list. */
  readonly listed?: readonly string[] | undefined;
}

/**
 * Checks the raw `fields` (architecture: Models) for names that have their own request field, names that the model does
 * not have, and local paths, which are never sent in JSON.
 */
export function validateRawFields(
  fields: { readonly [name: string]: JsonValue } | undefined,
  { operation, used = [], listed }: RawFieldRules,
): ValidationIssue[] {
  const covered = new Map<string, string>([
    ...used.map((name) => [name, 'references'] as const),
    ...Object.entries(COVERED[operation]),
  ]);
  return Object.entries(fields ?? {}).flatMap(([name, value]): ValidationIssue[] => {
    const field = `fields.${name}`;
    if (name.trim() === '' || name === '__proto__')
      return [{ field: 'fields', message: 'A field must have a name.' }];
    const instead = covered.get(name);
    if (instead !== undefined)
      return [
        {
          field,
          instead,
          message: `${name} must not be passed in fields, because the request has its own field for it, ${instead}.`,
        },
      ];
    const issues: ValidationIssue[] = [];
    if (listed !== undefined && !listed.includes(name))
      issues.push({
        field,
        message: `The model's configuration has no field ${name}.${unseenDifference(name, listed)}`,
        allowed: listed,
      });
    if (holdsLocalPath(value))
      issues.push({
        field,
        message: 'Local paths are never sent to the service. Pass the file as a reference or an upload.',
      });
    return issues;
  });
}

/** Whether any string in a value, at any depth, looks like a local path. */
export function holdsLocalPath(value: JsonValue): boolean {
  return textsIn(value).some(looksLikeLocalPath);
}

function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const open = new Set([value]);
  // The loop also visits items added to the set while it runs, and visits each object only once.
  for (const next of open) {
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next)) open.add(inner as unknown);
  }
  return texts;
}

/** Matches a JPEG in Base64 without a data: prefix, which starts with a slash but is not a path. */
const BASE64_JPEG = /^\/9j\/[A-Za-z0-9+/\s]{60,252}={0,2}\s*$/;

/** Absolute Unix paths, `file:`, drive letters, network shares, `~`, `./` and `../`. */
const LOCAL_PATH = /^\s*(?:\/|\\\\|\.{1,2}[\\/]|~(?:$|[\w.-]*[\\/])|file:|[a-z]:[\\/])/i;

/** A bare name of a media file, which is a relative local path. */
const MEDIA_FILE_NAME =
  /^[^\s:?]{1,255}\.(?:png|jpe?g|webp|gif|bmp|tiff?|avif|heic|mp4|mov|webm|mkv|avi|wav|mp3|m4a|flac|ogg)$/i;

export function looksLikeLocalPath(text: string): boolean {
  return (LOCAL_PATH.test(text) && !BASE64_JPEG.test(text.slice(0, 256))) || MEDIA_FILE_NAME.test(text);
}
