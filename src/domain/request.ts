import { type JsonValue } from './json';
import { type Check, isObject, must, namesOf, type ShapeOf } from './shape';

/** Longest `data:` reference in an input, in characters: a history is not a file store (architecture: Requests). */
export const MAX_INLINE_DATA_URL = 64 * 1024;

/** Whether an address contains the bytes itself. service/read-data-url reads them. */
export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

/** Media kind of a reference (contract 2.1). */
export type ReferenceKind = 'image' | 'video' | 'audio';

export const REFERENCE_KINDS: readonly ReferenceKind[] = ['image', 'video', 'audio'];

/**
 * Stored bytes, named by their content, so that local paths never enter a history (architecture: Stores). The worker's
 * artifact store resolves `uri`, which is `artifact:sha256/<hash>`.
 */
export interface ArtifactRef {
  /** `artifact:sha256/<hash>`. */
  readonly uri: string;
  /** Media type detected from the bytes, never the one that a server claimed. */
  readonly mediaType: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** Lowercase hexadecimal SHA-256 of the bytes. */
  readonly sha256: string;
}

/**
 * Where the bytes of a reference, an edit's image or a mask are read from. The worker reads a `file`, and only below
 * its `MEDIA_INPUT_ROOTS`. A local path is never sent to the service.
 */
export type MediaSource =
  | { readonly artifact: ArtifactRef }
  | { readonly url: string }
  | { readonly file: string };

/** One reference of a video (contract 2.1): the model's configuration decides the wire field and its form. */
export interface VideoReference {
  /** Together with the model's configuration, decides which field the reference is sent in. */
  readonly kind: ReferenceKind;
  /** Where its bytes are read from. */
  readonly source: MediaSource;
  /** Wire field, needed only when the model has more than one field for this kind. */
  readonly field?: string;
}

const ARTIFACT_URI = /^artifact:sha256\/([0-9a-f]{64})$/;

/** Returns the artifact uri for bytes with this SHA-256 (lowercase hexadecimal). */
export function artifactUri(sha256: string): string {
  return `artifact:sha256/${sha256}`;
}

/** Returns the SHA-256 in an artifact uri; undefined for any other uri. */
export function sha256OfArtifactUri(uri: string): string | undefined {
  return ARTIFACT_URI.exec(uri)?.[1];
}

/** Whether a value from an untyped caller is an artifact reference whose uri and hash agree. */
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

/** A video to create (contract 2.1). A field that is not given is left out of the request. */
export interface VideoRequest {
  /** Public model id, sent exactly as given. */
  readonly model: string;
  /** Text of at least one character. Stored in histories and results, never in ids, logs or the journal. */
  readonly prompt: string;
  /** Whole seconds; sent as `seconds` or `duration`, depending on the model. */
  readonly durationSeconds?: number;
  /** For example `720p`; the allowed values depend on the model. */
  readonly resolution?: string;
  /** For example `16:9`. */
  readonly aspectRatio?: string;
  /** In the order in which they are sent. @default none */
  readonly references?: readonly VideoReference[];
  /** Model-specific fields, sent unchanged under their wire names: the escape hatch (architecture: Models). */
  readonly fields?: { readonly [name: string]: JsonValue };
}

/** How an image call returns its results (contract 2.5). */
export type ImageResponseFormat = 'url' | 'b64_json';

/** An image to generate (contract 2.3). */
export interface ImageGenerationRequest {
  /** Public model id, sent exactly as given. */
  readonly model: string;
  /** Text of at least one character. */
  readonly prompt: string;
  /** `WIDTHxHEIGHT` with a lowercase x, or `auto` where the model supports it. */
  readonly size?: string;
  /** One of the model's values, such as `high`. @default the service's */
  readonly quality?: string;
  /** Number of results, at least 1; the service's default is 1. */
  readonly n?: number;
  /** How the service returns the results. What is stored is the same either way. @default the service's */
  readonly responseFormat?: ImageResponseFormat;
  /** Model-specific fields, sent unchanged under their wire names. */
  readonly fields?: { readonly [name: string]: JsonValue };
}

/** Images to edit (contract 2.4): at least one file; the order is kept. */
export interface ImageEditRequest extends ImageGenerationRequest {
  /** The pictures to edit, at least one, in the order in which they are sent. */
  readonly images: readonly MediaSource[];
  /** Sent only when the model's configuration lists mask editing. */
  readonly mask?: MediaSource;
}

/** The three paid calls (contract-rules: "Paid call"). */
export type PaidOperation = 'create_video' | 'generate_image' | 'edit_image';

/** A paid call before it is sent: the operation, and the request that belongs to it. */
export type PaidRequest =
  | { readonly operation: 'create_video'; readonly request: VideoRequest }
  | { readonly operation: 'generate_image'; readonly request: ImageGenerationRequest }
  | { readonly operation: 'edit_image'; readonly request: ImageEditRequest };

/** For workflows, where the activity checks a request's contents: changed rules must not change a replay. */
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

/** Summarizes a paid call for workflow lists: what its price depends on, never its prompt. */
export function callSummary(request: PaidRequest['request'] | null | undefined): string {
  const { model, durationSeconds, resolution, size, n } = (request ?? {}) as Record<string, unknown>;
  const length = typeof durationSeconds === 'number' ? `${durationSeconds} s` : undefined;
  const images = typeof n === 'number' ? `${n} images` : undefined;
  const shown = [model, length, resolution, size, images].filter(
    (fact) => typeof fact === 'string' && fact !== '',
  );
  return shown.join(', ').slice(0, 100);
}
