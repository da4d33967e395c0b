import { type Readable } from 'node:stream';
import { type ArtifactRef } from '../domain/request';

/** What a caller knows about bytes that it stores: the media type found in the bytes, never a claimed one (C2.5.5). */
export interface PutOptions {
  readonly mediaType: string;
}

/**
 * Where bytes go (architecture: Stores): named by their SHA-256, written once, never changed.
 * Every method rejects with an {@link ArtifactError}; no message holds a path, a bucket or a key.
 */
export interface ArtifactStore {
  /** The kind of store, for messages: nothing that must stay private in histories. */
  readonly kind: 'file' | 's3';

  /**
   * A part that belongs to one activity execution. The same owner gets its own bytes back (resume),
   * nobody else ever continues them. An earlier stage of the same owner that is still open loses its part.
   */
  stage(owner: string, options?: EnvironmentOptions): Promise<StagedArtifact>;

  /** The bytes of an artifact; the stream fails at its end with `hash_mismatch` when they are not what the name says. */
  read(ref: { readonly sha256: string }): Promise<Readable>;

  /** Size in bytes, or null when the store does not have it. */
  has(sha256: string): Promise<number | null>;

  /** Path of an artifact in a store of this machine, for `fs.openAsBlob`; it never enters an output. */
  localPath?(sha256: string): string | undefined;

  putBuffer(bytes: Uint8Array, options: PutOptions): Promise<ArtifactRef>;

  putStream(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<ArtifactRef>;

  /**
   * Writes an artifact to a file of the user: durable, complete or absent.
   * Another content under that name is never overwritten: `destination_occupied`.
   */
  fetchTo(ref: ArtifactRef, destination: string): Promise<'written' | 'already_there'>;

  /** The name of the store itself, the same wherever it is seen from; left out by a store that has none. */
  identity?(): Promise<string>;

  /** Rejects with `not_writable` or `no_space` when nothing could be stored now. */
  checkWritable(): Promise<void>;
}

export interface EnvironmentOptions {
  /** Nobody had this owner before, so nothing of it is looked for. @default false */
  readonly fresh?: boolean;
}

/** Bytes that are not an artifact yet. After `publish`, `reject` or `discard` only `close` may be called. */
export interface StagedArtifact {
  /** Bytes that the part holds. */
  readonly position: number;
  write(chunk: Uint8Array): Promise<void>;
  /** Drops every byte and starts at 0. */
  restart(): Promise<void>;
  /** Path of the part in a store that has it on this machine, for checks that need random access. */
  inspectPath(): string | undefined;
  /** Lowercase hexadecimal SHA-256 of the bytes so far. */
  sha256(): string;
  /** Makes the bytes durable and visible under their hash; bytes that are there already are not written again. */
  publish(mediaType: string): Promise<ArtifactRef>;
  /** Keeps refused bytes for a person, as `<hash>.rejected`: never readable as an artifact. */
  reject(): Promise<ArtifactRef>;
  /** Deletes the part. */
  discard(): Promise<void>;
  /** Lets go of the part and keeps its bytes for the owner's next try. */
  close(): Promise<void>;
}

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
