/** Why a store refused; public words. */
export type ArtifactErrorCode =
  /** The store has no such artifact. */
  | 'not_found'
  /** The stored bytes are not what their name says. */
  | 'hash_mismatch'
  /** The destination holds another content. */
  | 'destination_occupied'
  /** The part was taken over by a later execution of the same owner, or is closed. */
  | 'superseded'
  /** The device or the quota is full. */
  | 'no_space'
  /** Missing permission, read-only or missing directory. */
  | 'not_writable'
  /** No image, video or audio by its bytes. */
  | 'not_media'
  /** Not a regular file, or not readable. */
  | 'not_readable'
  /** Larger than allowed. */
  | 'too_large'
  /** Any other fault of the storage. */
  | 'storage';

/** Error of a store. The message holds no path, bucket or key (C5.4c), and neither does anything that is serialised with it. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';

  constructor(
    readonly code: ArtifactErrorCode,
    message: string,
  ) {
    super(message);
  }
}

const SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const ACCESS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

/** Turns a system error into an {@link ArtifactError}: the system's messages name paths, ours name its code alone. */
export function toArtifactError(error: unknown, place = 'The artifact store'): ArtifactError {
  if (error instanceof ArtifactError) return error;
  const code = systemCode(error);
  if (SPACE.has(code)) return new ArtifactError('no_space', `${place} is full (${code}).`);
  if (ACCESS.has(code)) return new ArtifactError('not_writable', `${place} cannot be written (${code}).`);
  return new ArtifactError('storage', `${place} failed (${code}).`);
}

/** The code of a system error such as `ENOENT`, or `unknown`. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'unknown';
}
