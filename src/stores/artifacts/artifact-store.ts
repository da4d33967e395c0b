import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { throwBug } from '../../domain/bug';
import { parseOwnJson } from '../../domain/json';
import { type ArtifactRef } from '../../domain/request';
import { ensureFolder, publishIfAbsent, removeIfThere, writeSynced } from '../files/durable-files';
import { ifAbsent, systemCode, systemFault } from '../files/system-errors';

/** Passes the bytes on and fails at the end, with `hash_mismatch`, when they do not have this SHA-256. */
export function verifiedStream(source: Readable, sha256: string): Readable {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done: TransformCallback) {
      const same = hash.digest('hex') === sha256;
      done(same ? null : new ArtifactError('hash_mismatch', `Artifact ${sha256} is damaged in the store.`));
    },
  });
  source.once('error', (error) => check.destroy(toArtifactError(error)));
  // pipeline closes the source when the reader closes the result, and passes errors on to the reader.
  pipeline(source, check, () => undefined);
  return check;
}

/** Facts about bytes to store: the media type detected from the bytes, never a claimed one. */
export interface PutOptions {
  /** For example `video/mp4`. */
  readonly mediaType: string;
}

/**
 * A store of bytes (architecture: Stores): named by their SHA-256, written once, never changed.
 * Every method rejects with an {@link ArtifactError}; no message contains a path, a bucket or a key.
 */
export interface ArtifactStore {
  /** The kind of store, for messages: `file`, `s3`, or a word of your own. Not private, because it enters histories. */
  readonly kind: string;

  /**
   * Opens a part that belongs to one activity execution. The same owner gets its own bytes back (resume), and no
   * other owner continues them. An earlier stage of the same owner that is still open loses its part.
   */
  stage(owner: string, options?: StageOptions): Promise<StagedArtifact>;

  /** The bytes of an artifact; the stream fails at its end with `hash_mismatch` when they do not match the hash. */
  read(ref: { readonly sha256: string }): Promise<Readable>;

  /** Size in bytes, or null when the store does not have it. */
  has(sha256: string): Promise<number | null>;

  /**
   * Path of a local file with the bytes of an artifact, for `fs.openAsBlob` and programs such as ffmpeg: read it, never
   * write it. A store that is not local gives a verified copy, which stays for at least an hour. The path never enters an
   * output.
   */
  localPath(ref: { readonly sha256: string }): Promise<string>;

  /**
   * An address from which anybody can read the artifact for this long, in milliseconds; left out by a store that cannot
   * give one. It is a secret: whoever has it can read, so that it belongs in no log, history or message.
   */
  presign?(ref: { readonly sha256: string }, options: { readonly expiresMs: number }): Promise<string>;

  /**
   * At most `limit` artifacts whose hash comes after `after`, in the order of their hashes; from the first one when it is
   * null. Those that are stored or removed meanwhile may be left out.
   */
  list(after: string | null, limit: number): Promise<readonly StoredArtifact[]>;

  /** Removes an artifact, if it is there. */
  remove(sha256: string): Promise<void>;

  /** Stores bytes that are in memory. Bytes that the store already has are not written again. */
  putBuffer(bytes: Uint8Array, options: PutOptions): Promise<ArtifactRef>;

  /** Stores the bytes of a stream: all of them, or nothing. Bytes that the store already has are not written again. */
  putStream(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<ArtifactRef>;

  /**
   * Writes an artifact to a file of the user: durable, complete or absent.
   * Never overwrites other content under that name: `destination_occupied`.
   */
  fetchTo(ref: ArtifactRef, destination: string): Promise<'written' | 'already_there'>;

  /** The id of the store, the same from every machine; left out by a store that has none. */
  identity?(): Promise<string>;

  /** Deletes local parts that no activity continues any more; left out by a store without local parts. */
  removeStaleParts?(): Promise<unknown>;

  /** Removes old refused bytes; left out by a store that keeps none. */
  pruneRejected?(options: PruneRejected): Promise<PrunedBytes>;

  /** Rejects with `not_writable` or `no_space` when nothing can be stored now. */
  checkWritable(): Promise<void>;
}

/** Which refused bytes are removed. */
export interface PruneRejected {
  /** Milliseconds since the Unix epoch: bytes that were refused since are kept. */
  readonly before: number;
  /** Counts without removing. */
  readonly dryRun: boolean;
}

/** What was removed; with `dryRun`, what would be. */
export interface PrunedBytes {
  /** Number of files or objects. */
  readonly removed: number;
  /** Their size in bytes. */
  readonly removedBytes: number;
}

/** An artifact as {@link ArtifactStore.list} finds it. */
export interface StoredArtifact {
  /** Lowercase hexadecimal. */
  readonly sha256: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** ISO 8601 time at which these bytes were last stored, at most a day too early. */
  readonly storedAt: string;
}

/**
 * A day: bytes that are stored again later than this after the last time are marked as stored now, so that nobody takes
 * them for old.
 */
export const STORED_AGAIN_MS = 86_400_000;

/** Options of {@link ArtifactStore.stage}. */
export interface StageOptions {
  /** The owner is new, so that its earlier parts are not searched for. @default false */
  readonly fresh?: boolean;
}

/** Bytes that are not an artifact yet. After `publish`, `reject` or `discard` only `close` may be called. */
export interface StagedArtifact {
  /** Number of bytes in the part. */
  readonly position: number;
  /** Appends bytes. Rejects with `superseded` after another execution of the owner took the part over. */
  write(chunk: Uint8Array): Promise<void>;
  /** Drops all bytes and starts at 0. */
  restart(): Promise<void>;
  /** Local path of the part, in a store that has one, for checks that need random access. */
  inspectPath(): string | undefined;
  /** Lowercase hexadecimal SHA-256 of the bytes so far. */
  sha256(): string;
  /** Makes the bytes durable and visible under their hash; existing bytes are not written again, or only to renew `storedAt`. */
  publish(mediaType: string): Promise<ArtifactRef>;
  /** Keeps refused bytes for inspection, as `<hash>.rejected`: never readable as an artifact. */
  reject(): Promise<ArtifactRef>;
  /** Deletes the part and its bytes. */
  discard(): Promise<void>;
  /** Releases the part and keeps its bytes for the owner's next try. */
  close(): Promise<void>;
}

/** Why a store refused; public values. */
export type ArtifactErrorCode =
  /** The store has no such artifact. */
  | 'not_found'
  /** The stored bytes do not match their hash. */
  | 'hash_mismatch'
  /** The destination holds other content. */
  | 'destination_occupied'
  /** The part was taken over by a later execution of the same owner, or is closed. */
  | 'superseded'
  /** The device or the quota is full. */
  | 'no_space'
  /** Missing permission, read-only or missing directory. */
  | 'not_writable'
  /** Not an image, video or audio according to the bytes. */
  | 'not_media'
  /** Not a regular file, or not readable. */
  | 'not_readable'
  /** Larger than allowed. */
  | 'too_large'
  /** Any other fault of the storage. */
  | 'storage';

/** Error of a store. Neither the message nor anything serialised with it contains a path, bucket or key. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';

  constructor(
    /** Stable; what a program decides by. */
    readonly code: ArtifactErrorCode,
    message: string,
    /** What to do, where it depends on the kind of store. @default what to do with a folder */
    readonly hint?: string,
  ) {
    super(message);
  }
}

const SHA256 = /^[0-9a-f]{64}$/;

export function isHash(name: string): boolean {
  return SHA256.test(name);
}

/** @throws ArtifactError `not_found` for what can be no artifact, so that no other name becomes a path or a key. */
export function assertHash(sha256: string): void {
  if (!isHash(sha256))
    throw new ArtifactError('not_found', 'Not the SHA-256 of an artifact: 64 lowercase hexadecimal digits.');
}

export function notFound(sha256: string): ArtifactError {
  return new ArtifactError('not_found', `The artifact store does not have ${sha256}.`);
}

const SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const ACCESS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

/**
 * Turns a system error into an {@link ArtifactError}: system messages contain paths, this message only the call and the
 * error code.
 */
export function toArtifactError(error: unknown, place = 'The artifact store'): ArtifactError {
  if (error instanceof ArtifactError) return error;
  const code = systemCode(error);
  const fault = systemFault(error);
  if (SPACE.has(code)) return new ArtifactError('no_space', `${place} is full (${fault}).`);
  if (ACCESS.has(code)) return new ArtifactError('not_writable', `${place} cannot be written (${fault}).`);
  return new ArtifactError('storage', `${place} failed (${fault}).`);
}

/** Name of the record that holds the id of a store. */
export const IDENTITY_NAME = 'store.json';

/** A record with a new id. */
export function newIdentity(): string {
  return `${JSON.stringify({ v: 1, storeId: randomUUID() })}\n`;
}

/** The id in such a record. @throws ArtifactError `storage` when it holds none */
export function parseStoreIdentity(text: string): string {
  const storeId = identityIn(text);
  if (storeId !== undefined) return storeId;
  throw new ArtifactError('storage', `The ${IDENTITY_NAME} of the artifact store does not hold its name.`);
}

/** The id of the store in this folder, created by the first caller; the same from every machine that sees the folder. */
export async function storeIdentity(root: string): Promise<string> {
  const file = join(root, IDENTITY_NAME);
  return (await readIdentity(file)) ?? makeIdentity(root, file);
}

async function makeIdentity(root: string, file: string): Promise<string> {
  await ensureFolder(root);
  const draft = join(root, `.${randomUUID()}.tmp`);
  try {
    await writeSynced(draft, [newIdentity()], 0o600);
    await publishIfAbsent(draft, file);
  } finally {
    await removeIfThere(draft);
  }
  // The first process to publish a name wins.
  const storeId = await readIdentity(file);
  if (storeId === undefined)
    throw new ArtifactError('storage', `The ${IDENTITY_NAME} of the artifact store is gone.`);
  return storeId;
}

async function readIdentity(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(ifAbsent(undefined));
  return text === undefined ? undefined : parseStoreIdentity(text);
}

function identityIn(text: string): string | undefined {
  try {
    const value = parseOwnJson(text);
    const storeId =
      typeof value === 'object' && value !== null && 'storeId' in value ? value.storeId : undefined;
    return typeof storeId === 'string' && storeId !== '' ? storeId : undefined;
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
