import { type KeysOf } from './known-keys';

/** What a reference shows (contract 2.1). */
export type ReferenceKind = 'image' | 'video' | 'audio';

/**
 * Stored bytes, named by their content: no machine's path ever enters a history (architecture: Stores).
 * `uri` is `artifact:sha256/<hash>` and is resolved by the worker's artifact store.
 */
export interface ArtifactRef {
  readonly uri: string;
  /** Media type found in the bytes, never the one a server claimed. */
  readonly mediaType: string;
  readonly bytes: number;
  /** Lowercase hexadecimal SHA-256 of the bytes. */
  readonly sha256: string;
}

/**
 * Where the bytes of a reference, an edit's image or a mask come from.
 * `file` is read by the worker and only below its `MEDIA_INPUT_ROOTS`; a local path never reaches JSON (C2.4.6).
 */
export type MediaSource =
  { readonly artifact: ArtifactRef } | { readonly url: string } | { readonly file: string };

/** One reference of a video (contract 2.1): the model's configuration decides the wire field and its form (C2.1.5). */
export interface VideoReference {
  readonly kind: ReferenceKind;
  readonly source: MediaSource;
  /** Wire field, needed only when the model has more than one field for this kind. */
  readonly field?: string;
}

const ARTIFACT_URI = /^artifact:sha256\/([0-9a-f]{64})$/;

/** The uri of bytes with this SHA-256 (lowercase hexadecimal). */
export function artifactUri(sha256: string): string {
  return `artifact:sha256/${sha256}`;
}

/** The SHA-256 in an artifact uri; undefined when it is not one of ours. */
export function sha256OfArtifactUri(uri: string): string | undefined {
  return ARTIFACT_URI.exec(uri)?.[1];
}

/** Whether a value from an untyped caller is an artifact of ours: its uri and its hash agree. */
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

/** References as kept facts: `none`, or kinds with counts such as `image:2+audio:1` (architecture: Requests, C4.4b). */
export function referenceModeOf(references: readonly VideoReference[] | undefined): string {
  // An untyped caller may hand over anything; the shape is judged elsewhere.
  if (!Array.isArray(references) || references.length === 0) return 'none';
  const order: readonly ReferenceKind[] = ['image', 'video', 'audio'];
  return order
    .map((kind) => ({
      kind,
      count: references.filter((reference: VideoReference | null) => reference?.kind === kind).length,
    }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${kind}:${count}`)
    .join('+');
}

export const SOURCE_KEYS = { artifact: true, url: true, file: true } satisfies KeysOf<MediaSource>;

export const REFERENCE_KEYS = {
  kind: true,
  source: SOURCE_KEYS,
  field: true,
} satisfies KeysOf<VideoReference>;
