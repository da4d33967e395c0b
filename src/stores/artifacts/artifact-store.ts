import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { throwBug } from '../../domain/bug';
import { parseOwnJson } from '../../domain/json';
import { type ArtifactRef } from '../../domain/request';
import { ensureFolder, publishIfAbsent, removeIfThere, writeSynced } from '../files/durable-files';
import { ifAbsent, systemCode, systemFault } from '../files/system-errors';

/** Passes the bytes through. Fails at the end with `hash_mismatch` if they do not have this SHA-256. */
export function verifiedStream(source: Readable, sha256: string): Readable {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done: TransformCallback) {
      const same = hash.digest('hex') === sha256;
      done(same ? null : new ArtifactError('hash_mismatch', `Artifact ${sha256} is corrupted in the store.`));
    },
  });
  source.once('error', (error) => check.destroy(toArtifactError(error)));
  // pipeline forwards errors to the reader, and closes the source when the reader closes the result.
  pipeline(source, check, () => undefined);
  return check;
}

/** Facts about the bytes to store. The media type must be detected from the bytes, not taken from a header. */
export interface PutOptions {
  /** For example `video/mp4`. */
  readonly mediaType: string;
}

/**
 * Stores bytes under their SHA-256 (architecture: Stores). They are written once and never change.
 * Every method rejects with an {@link ArtifactError}. No message contains a path, a bucket or a key.
 */
export interface ArtifactStore {
  /**
   * The kind of store, for use in messages: `file`, `s3`, or a word of your choice. It is recorded in histories, so it
   * must not contain anything private.
   */
  readonly kind: string;

  /**
   * Opens a part that belongs to one activity execution. Only the same owner can resume its bytes. If that owner still
   * has an earlier stage open, the earlier stage loses its part.
   */
  stage(owner: string, options?: StageOptions): Promise<StagedArtifact>;

  /** Reads an artifact. The stream fails at its end with `hash_mismatch` if the bytes do not match the hash. */
  read(ref: { readonly sha256: string }): Promise<Readable>;

  /** Returns the size in bytes, or null if the store does not have the artifact. */
  has(sha256: string): Promise<number | null>;

  /**
   * Returns the path of a local file with the artifact's bytes, for `fs.openAsBlob` and programs such as ffmpeg. Never
   * write to it. A remote store returns a verified copy, which remains for at least an hour. The path must never appear
   * in an output.
   */
  localPath(ref: { readonly sha256: string }): Promise<string>;

  /**
   * Returns a URL from which anyone can read the artifact for `expiresMs` milliseconds. Omit this method if the store
   * cannot sign URLs. The URL is a secret: keep it out of logs, histories and messages.
   */
  presign?(ref: { readonly sha256: string }, options: { readonly expiresMs: number }): Promise<string>;

  /**
   * Lists up to `limit` artifacts with hashes greater than `after`, in hash order; null starts at the first. Artifacts
   * that are stored or removed during the call may be missing.
   */
  list(after: string | null, limit: number): Promise<readonly StoredArtifact[]>;

  /** Removes an artifact if it exists. */
  remove(sha256: string): Promise<void>;

  /** Stores bytes from memory. Does not rewrite bytes that the store already has. */
  putBuffer(bytes: Uint8Array, options: PutOptions): Promise<ArtifactRef>;

  /** Stores all bytes of a stream, or nothing. Does not rewrite bytes that the store already has. */
  putStream(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<ArtifactRef>;

  /**
   * Writes an artifact to a user's file durably: the file is complete or absent.
   * Rejects with `destination_occupied` instead of overwriting other content.
   */
  fetchTo(ref: ArtifactRef, destination: string): Promise<'written' | 'already_there'>;

  /** Returns the store's ID, which is the same for every machine. Omit this method if the store has none. */
  identity?(): Promise<string>;

  /** Deletes local parts that no activity will resume. Omit this method if the store has no local parts. */
  removeStaleParts?(): Promise<unknown>;

  /** Removes old refused bytes. Omit this method if the store does not keep them. */
  pruneRejected?(options: PruneRejected): Promise<PrunedBytes>;

  /** Rejects with `not_writable` or `no_space` if the store cannot store anything right now. */
  checkWritable(): Promise<void>;
}

/** Which refused bytes to remove. */
export interface PruneRejected {
  /** Milliseconds since the Unix epoch. Bytes refused at or after this time are kept. */
  readonly before: number;
  /** Whether to count without removing. */
  readonly dryRun: boolean;
}

/** What was removed, or would be removed with `dryRun`. */
export interface PrunedBytes {
  /** Number of files or objects. */
  readonly removed: number;
  /** Their size in bytes. */
  readonly removedBytes: number;
}

/** An artifact in the result of {@link ArtifactStore.list}. */
export interface StoredArtifact {
  /** Lowercase hexadecimal SHA-256. */
  readonly sha256: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** ISO 8601 time when these bytes were last stored. May be up to a day too early. */
  readonly storedAt: string;
}

/**
 * One day. If the same bytes are stored again after this time, the store renews `storedAt`, so that they do not look
 * old.
 */
export const STORED_AGAIN_MS = 86_400_000;

/** Options of {@link ArtifactStore.stage}. */
export interface StageOptions {
  /** Whether the owner is new, which makes a search for its earlier parts unnecessary. @default false */
  readonly fresh?: boolean;
}

/** Bytes that are not an artifact yet. After `publish`, `reject` or `discard`, only `close` may be called. */
export interface StagedArtifact {
  /** Number of bytes in the part. */
  readonly position: number;
  /** Appends bytes. Rejects with `superseded` after another execution of the owner has taken over the part. */
  write(chunk: Uint8Array): Promise<void>;
  /** Drops all bytes and starts at 0. */
  restart(): Promise<void>;
  /** Returns the part's local path, if the store has one, for checks that need random access. */
  inspectPath(): string | undefined;
  /** Returns the lowercase hexadecimal SHA-256 of the bytes so far. */
  sha256(): string;
  /** Makes the bytes durable and visible under their hash. Rewrites existing bytes only to renew `storedAt`. */
  publish(mediaType: string): Promise<ArtifactRef>;
  /** Keeps refused bytes for inspection as `<hash>.rejected`, which cannot be read as an artifact. */
  reject(): Promise<ArtifactRef>;
  /** Deletes the part and its bytes. */
  discard(): Promise<void>;
  /** Releases the part and keeps its bytes for the owner's next attempt. */
  close(): Promise<void>;
}

/** Why a store operation failed. These values are public. */
export type ArtifactErrorCode =
  /** The store does not have this artifact. */
  | 'not_found'
  /** The stored bytes do not match their hash. */
  | 'hash_mismatch'
  /** The destination contains other content. */
  | 'destination_occupied'
  /** The part is closed, or a later execution of the same owner took it over. */
  | 'superseded'
  /** The device is full or the quota is used up. */
  | 'no_space'
  /** The directory is missing or read-only, or its permissions forbid the access. */
  | 'not_writable'
  /** The bytes are not an image, a video or audio. */
  | 'not_media'
  /** Not a regular file, or not readable. */
  | 'not_readable'
  /** Larger than allowed. */
  | 'too_large'
  /** Any other storage failure. */
  | 'storage';

/** A store's error. Neither the message nor anything serialized with it contains a path, a bucket or a key. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';

  constructor(
    /** A stable code for programs. */
    readonly code: ArtifactErrorCode,
    message: string,
    /** What to do, if that depends on the kind of store. @default advice for a folder */
    readonly hint?: string,
  ) {
    super(message);
  }
}

const SHA256 = /^[0-9a-f]{64}$/;

export function isHash(name: string): boolean {
  return SHA256.test(name);
}

/** @throws ArtifactError `not_found` for text that is not a hash, so that such text never becomes a path or a key. */
export function assertHash(sha256: string): void {
  if (!isHash(sha256))
    throw new ArtifactError('not_found', "An artifact's SHA-256 must be 64 lowercase hexadecimal digits.");
}

export function notFound(sha256: string): ArtifactError {
  return new ArtifactError('not_found', `The artifact store does not have ${sha256}.`);
}

const SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const ACCESS: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

/**
 * Converts a system error to an {@link ArtifactError}. System messages contain paths; the new message contains only the
 * system call and the error code.
 */
export function toArtifactError(error: unknown, place = 'The artifact store'): ArtifactError {
  if (error instanceof ArtifactError) return error;
  const code = systemCode(error);
  const fault = systemFault(error);
  if (SPACE.has(code)) return new ArtifactError('no_space', `${place} is full (${fault}).`);
  if (ACCESS.has(code)) return new ArtifactError('not_writable', `${place} is not writable (${fault}).`);
  return new ArtifactError('storage', `${place} failed (${fault}).`);
}

/** The name of the record with the store's ID. */
export const IDENTITY_NAME = 'store.json';

/** Creates a record with a new ID. */
export function newIdentity(): string {
  return `${JSON.stringify({ v: 1, storeId: randomUUID() })}\n`;
}

/** Reads the ID in such a record. @throws ArtifactError `storage` if it does not contain one */
export function parseStoreIdentity(text: string): string {
  const storeId = identityIn(text);
  if (storeId !== undefined) return storeId;
  throw new ArtifactError('storage', `The artifact store's ${IDENTITY_NAME} does not contain a store ID.`);
}

/** Returns the ID of the store in this folder. The first caller creates it; every machine sees the same ID. */
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
  // The first process to publish an ID wins.
  const storeId = await readIdentity(file);
  if (storeId === undefined)
    throw new ArtifactError(
      'storage',
      `The artifact store's ${IDENTITY_NAME} was deleted while it was being created.`,
    );
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
