import { type JsonValue } from './json';
import { type ValidationIssue } from './validation-issue';

const IMAGE_FIELDS = {
  model: 'model',
  prompt: 'prompt',
  size: 'size',
  quality: 'quality',
  n: 'n',
  response_format: 'responseFormat',
} as const;

/** Wire names that have a place of their own in a request, with that place; `fields` must not say them a second time (C2.1.2). */
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

export interface RawFieldRules {
  readonly operation: keyof typeof COVERED;
  /** Wire names that references of this request already use. */
  readonly used?: readonly string[];
  /** Names that the model's configuration lists; undefined when it says nothing about them. */
  readonly listed?: readonly string[] | undefined;
}

/**
 * Checks the explicit way out (architecture: Models): names that are covered elsewhere, names that the model does not have,
 * and local paths, which never reach JSON (C2.4.6).
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
      return [{ field: 'fields', message: 'A field needs a name.' }];
    const instead = covered.get(name);
    if (instead !== undefined)
      return [
        { field, instead, message: `${name} is not given as a field: the request has ${instead} for it.` },
      ];
    const issues: ValidationIssue[] = [];
    if (listed !== undefined && !listed.includes(name))
      issues.push({ field, message: `The model's configuration has no field ${name}.`, allowed: listed });
    if (holdsLocalPath(value))
      issues.push({
        field,
        message: 'A local path never goes to the service: give the file as a reference or an upload.',
      });
    return issues;
  });
}

/** Whether any text in a value, at any depth, looks like a path of this machine. */
export function holdsLocalPath(value: JsonValue): boolean {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      if (looksLikeLocalPath(next)) return true;
    } else if (next !== null && typeof next === 'object') {
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return false;
}

/** A bare JPEG in Base64 begins with a slash. */
const BASE64_JPEG = /^\/9j\/[A-Za-z0-9+/\s]{60,252}={0,2}\s*$/;

/** Absolute Unix paths, `file:`, drive letters, network shares, `~`, `./` and `../`. */
const LOCAL_PATH = /^\s*(?:\/|\\\\|\.{1,2}[\\/]|~(?:$|[\w.-]*[\\/])|file:|[a-z]:[\\/])/i;

/** A bare name of a media file: a path relative to somewhere on this machine. */
const MEDIA_FILE_NAME =
  /^[^\s:?]{1,255}\.(?:png|jpe?g|webp|gif|bmp|tiff?|avif|heic|mp4|mov|webm|mkv|avi|wav|mp3|m4a|flac|ogg)$/i;

export function looksLikeLocalPath(text: string): boolean {
  return (LOCAL_PATH.test(text) && !BASE64_JPEG.test(text.slice(0, 256))) || MEDIA_FILE_NAME.test(text);
}
