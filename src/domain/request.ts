import { type JsonValue } from './json';
import { type Check, isObject, must, namesOf, type ShapeOf } from './shape';

/**
 * Maximum length of a `data:` URL in an input, in characters. A history is not a file store (architecture: Requests).
 */
export const MAX_INLINE_DATA_URL = 64 * 1024;

/** Whether a URL contains the bytes inline. service/read-data-url reads them. */
export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

/** Media kind of a reference (contract 2.1). */
export type ReferenceKind = 'image' | 'video' | 'audio';

export const REFERENCE_KINDS: readonly ReferenceKind[] = ['image', 'video', 'audio'];

/**
 * A stored file, named by its content so that local paths never enter a history (architecture: Stores). The worker's
 * artifact store resolves `uri`.
 */
export interface ArtifactRef {
  /** `artifact:sha256/<hash>`. */
  readonly uri: string;
  /** Media type detected from the content, never one claimed by a server. */
  readonly mediaType: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** Lowercase hexadecimal SHA-256 of the bytes. */
  readonly sha256: string;
}

/**
 * The source of a reference, an edit's image or a mask. The worker reads a `file` only if it is below one of its
 * `MEDIA_INPUT_ROOTS`. A local path is never sent to the service.
 */
export type MediaSource =
  | { readonly artifact: ArtifactRef }
  | { readonly url: string }
  | { readonly file: string };

/** A reference for a video (contract 2.1). The model's configuration determines the wire field and its format. */
export interface VideoReference {
  /** Kind of media. Together with the model's configuration, it determines the wire field. */
  readonly kind: ReferenceKind;
  /** Where the file comes from. */
  readonly source: MediaSource;
  /** Wire field, needed only when the model has more than one field for this kind. */
  readonly field?: string;
}

const ARTIFACT_URI = /^artifact:sha256\/([0-9a-f]{64})$/;

/** Returns the artifact URI for a file with this SHA-256 (lowercase hexadecimal). */
export function artifactUri(sha256: string): string {
  return `artifact:sha256/${sha256}`;
}

/** Returns the SHA-256 in an artifact URI, or undefined for any other URI. */
export function sha256OfArtifactUri(uri: string): string | undefined {
  return ARTIFACT_URI.exec(uri)?.[1];
}

/** Whether a value from an untyped caller is an artifact reference whose URI and hash match. */
export function isArtifactRef(value: unknown): value is ArtifactRef {
  if (typeof value !== 'object' || value === null) return false;
  const { uri, mediaType, bytes, sha256 } = value as { [field in keyof ArtifactRef]?: unknown };
  return (
    typeof uri === 'string' &&
    typeof mediaType === 'string' &&
    Number.isInteger(bytes) &&
    typeof sha256 === 'string' &&
    sha256OfArtifactUri(uri) === sha256
  );
}

/** Summarizes references: `none`, or kinds with counts such as `image:2+audio:1` (architecture: Requests). */
export function referenceModeOf(references: readonly VideoReference[] | undefined): string {
  // An untyped caller may pass any value; the shape is validated elsewhere.
  if (!Array.isArray(references) || references.length === 0) return 'none';
  return REFERENCE_KINDS.flatMap((kind) => {
    const count = references.filter((reference: VideoReference | null) => reference?.kind === kind).length;
    return count > 0 ? [`${kind}:${count}`] : [];
  }).join('+');
}

export const SOURCE_SHAPE = { artifact: true, url: true, file: true } satisfies ShapeOf<MediaSource>;

export const REFERENCE_SHAPE = {
  kind: true,
  source: namesOf<MediaSource>(SOURCE_SHAPE),
  field: true,
} satisfies ShapeOf<VideoReference>;

/** A video to create (contract 2.1). An omitted field is not sent. */
export interface VideoRequest {
  /** Public model id, sent unchanged. */
  readonly model: string;
  /** Must not be empty. Stored in histories and results, never in ids, logs or the journal. */
  readonly prompt: string;
  /** Whole seconds; sent as `seconds` or `duration`, depending on the model. */
  readonly durationSeconds?: number;
  /** For example `720p`; the allowed values depend on the model. */
  readonly resolution?: string;
  /** For example `16:9`. */
  readonly aspectRatio?: string;
  /** References, sent in this order. @default none */
  readonly references?: readonly VideoReference[];
  /** Escape hatch for model-specific fields, sent unchanged under their wire names (architecture: Models). */
  readonly fields?: { readonly [name: string]: JsonValue };
}

/** How an image call returns its results (contract 2.5). */
export type ImageResponseFormat = 'url' | 'b64_json';

/** An image to generate (contract 2.3). */
export interface ImageGenerationRequest {
  /** Public model id, sent unchanged. */
  readonly model: string;
  /** Must not be empty. */
  readonly prompt: string;
  /** `WIDTHxHEIGHT` with a lowercase x, or `auto` if the model supports it. */
  readonly size?: string;
  /** One of the model's values, such as `high`. @default the service's default */
  readonly quality?: string;
  /** Number of results, at least 1. The service's default is 1. */
  readonly n?: number;
  /** How the service returns the results. The stored files are the same either way. @default the service's default */
  readonly responseFormat?: ImageResponseFormat;
  /** Model-specific fields, sent unchanged under their wire names. */
  readonly fields?: { readonly [name: string]: JsonValue };
}

/** Images to edit (contract 2.4). */
export interface ImageEditRequest extends ImageGenerationRequest {
  /** The images to edit, at least one, sent in this order. */
  readonly images: readonly MediaSource[];
  /** The mask. Sent only if the model's configuration lists mask editing. */
  readonly mask?: MediaSource;
}

/** The three paid calls (contract-rules: "Paid call"). */
export type PaidOperation = 'create_video' | 'generate_image' | 'edit_image';

/** A paid call before it is sent: the operation and its request. */
export type PaidRequest =
  | { readonly operation: 'create_video'; readonly request: VideoRequest }
  | { readonly operation: 'generate_image'; readonly request: ImageGenerationRequest }
  | { readonly operation: 'edit_image'; readonly request: ImageEditRequest };

/**
 * Checks a request's shape in workflow code. The activity checks its contents, so that changed rules do not change a
 * replay.
 */
export const requestCheck: Check<VideoRequest & ImageEditRequest> = must('an object', isObject);

export const VIDEO_REQUEST_SHAPE = {
  model: true,
  prompt: true,
  durationSeconds: true,
  resolution: true,
  aspectRatio: true,
  references: true,
  fields: true,
} satisfies ShapeOf<VideoRequest>;

export const IMAGE_REQUEST_SHAPE = {
  model: true,
  prompt: true,
  size: true,
  quality: true,
  n: true,
  responseFormat: true,
  fields: true,
} satisfies ShapeOf<ImageGenerationRequest>;

export const EDIT_REQUEST_SHAPE = {
  ...IMAGE_REQUEST_SHAPE,
  images: true,
  mask: namesOf<MediaSource>(SOURCE_SHAPE),
} satisfies ShapeOf<ImageEditRequest>;

/** Summarizes a paid call for workflow lists. Includes the values that its price depends on, never its prompt. */
export function callSummary(request: PaidRequest['request'] | null | undefined): string {
  const { model, durationSeconds, resolution, size, n } = (request ?? {}) as Record<string, unknown>;
  const length = typeof durationSeconds === 'number' ? `${durationSeconds} s` : undefined;
  const images = typeof n === 'number' ? `${n} images` : undefined;
  const shown = [model, length, resolution, size, images].filter(
    (fact) => typeof fact === 'string' && fact !== '',
  );
  return shown.join(', ').slice(0, 100);
}
