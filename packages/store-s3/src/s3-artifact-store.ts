import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type * as Presigner from '@aws-sdk/s3-request-presigner';
import { type ArtifactRef } from 'temporal-media';
import {
  ArtifactError,
  assertHash,
  IDENTITY_NAME,
  isHash,
  newIdentity,
  notFound,
  parseStoreIdentity,
  STORED_AGAIN_MS,
  toArtifactError,
  verifiedStream,
} from 'temporal-media/internal/stores/artifacts/artifact-store';
import { type FilePart } from 'temporal-media/internal/stores/artifacts/file-part';
import { PartFolder, STALE_PART_MS, writeWhole } from 'temporal-media/internal/stores/artifacts/part-folder';
import { fetchToFile } from 'temporal-media/internal/stores/artifacts/user-files';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import {
  type ArtifactStore,
  type PrunedBytes,
  type PruneRejected,
  type PutOptions,
  type StagedArtifact,
  type StageOptions,
  type StoredArtifact,
} from 'temporal-media/stores';
import { LocalCache } from './local-cache';
import { s3FailureOf, isAbsent, storeError } from './s3-error';
import { S3Part } from './s3-part';
import {
  createObject,
  listPages,
  objectAt,
  probeConditionalPuts,
  readObject,
  type S3Place,
} from './s3-requests';

/** Part size of a multipart upload, in bytes. At most {@link PARTS_AT_ONCE} times this size is in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 4;
/** Maximum number of parts. Larger files use larger parts. */
const MAX_PARTS = 10_000;
/** Name prefix for rejected bytes. */
const REJECTED = 'rejected/';
const LONGEST_PRESIGN_MS = 7 * 86_400_000;

/** The location in the bucket, and the local folder on this host. */
export interface S3ArtifactStoreOptions extends S3Place {
  /**
   * Local folder for unfinished parts and copies. It may be deleted without losing data. Processes on one host may
   * share it.
   */
  readonly folder: string;
  /** Limit for local copies, in bytes. @default 10 GB (10,000,000,000 bytes) */
  readonly cacheBytes?: number;
}

/**
 * Artifacts in a bucket (architecture: Stores), for any number of hosts: `<prefix>/<h[0:2]>/<hash>`, rejected bytes as
 * `<prefix>/rejected/<hash>.rejected`, and the store's id as `<prefix>/store.json`. An unfinished part is a file on the
 * host that writes it. The caller owns and closes the client.
 */
export class S3ArtifactStore implements ArtifactStore {
  readonly kind = 's3';
  readonly #place: S3Place;
  readonly #parts: PartFolder;
  readonly #cache: LocalCache;

  constructor({ client, bucket, prefix, folder, cacheBytes }: S3ArtifactStoreOptions) {
    this.#place = { client, bucket, prefix };
    this.#cache = new LocalCache({
      folder: join(folder, 'cache'),
      ...(cacheBytes !== undefined && { maxBytes: cacheBytes }),
    });
    this.#parts = new PartFolder(join(folder, 'parts'), {
      final: (sha256) => this.#cache.copyOf(sha256),
      rejected: (sha256) => join(folder, 'rejected', `${sha256}.rejected`),
    });
  }

  async stage(owner: string, options?: StageOptions): Promise<StagedArtifact> {
    return this.#part(await this.#parts.stage(owner, options));
  }

  async read({ sha256 }: { readonly sha256: string }): Promise<Readable> {
    assertHash(sha256);
    try {
      return verifiedStream(await objectBytes(this.#place, nameOf(sha256)), sha256);
    } catch (error) {
      throw isAbsent(s3FailureOf(error)) ? notFound(sha256) : storeError(error);
    }
  }

  async has(sha256: string): Promise<number | null> {
    assertHash(sha256);
    return (await this.#stored(sha256))?.bytes ?? null;
  }

  /** Returns a verified local copy, downloaded earlier or by this call. */
  async localPath({ sha256 }: { readonly sha256: string }): Promise<string> {
    assertHash(sha256);
    return this.#cache.pathOf(sha256, () => this.read({ sha256 }));
  }

  /**
   * Returns a signed address, which is a secret. `expiresMs` is 1 second to 7 days, in milliseconds; with temporary
   * credentials, the address expires no later than they do.
   * @throws RangeError if `expiresMs` is out of range
   */
  async presign(
    { sha256 }: { readonly sha256: string },
    { expiresMs }: { readonly expiresMs: number },
  ): Promise<string> {
    if (!(expiresMs >= 1_000 && expiresMs <= LONGEST_PRESIGN_MS))
      throw new RangeError('expiresMs must be between 1,000 (1 second) and 604,800,000 (7 days).');
    if ((await this.has(sha256)) === null) throw notFound(sha256);
    // Loaded on demand, because most users never create signed addresses.
    const { getSignedUrl } = require('@aws-sdk/s3-request-presigner') as typeof Presigner;
    const get = new GetObjectCommand(this.#object(sha256));
    try {
      return await getSignedUrl(this.#place.client, get, { expiresIn: Math.floor(expiresMs / 1_000) });
    } catch (error) {
      throw storeError(error);
    }
  }

  async list(after: string | null, limit: number): Promise<readonly StoredArtifact[]> {
    const found: StoredArtifact[] = [];
    if (limit < 1) return found;
    const start = after === null ? null : nameOf(after);
    try {
      for await (const page of listPages(this.#place, '', start, limit)) {
        for (const { name, bytes, storedAt } of page) {
          // Names that are not artifacts (`rejected/`, `store.json`) sort after all names that begin with two
          // hexadecimal digits.
          if (name > 'fg') return found;
          const sha256 = name.slice(3);
          if (!isHash(sha256) || name !== nameOf(sha256) || storedAt === undefined) continue;
          found.push({ sha256, bytes, storedAt: storedAt.toISOString() });
          if (found.length >= limit) return found;
        }
      }
    } catch (error) {
      throw storeError(error);
    }
    return found;
  }

  async remove(sha256: string): Promise<void> {
    assertHash(sha256);
    try {
      await this.#place.client.send(new DeleteObjectCommand(this.#object(sha256)));
    } catch (error) {
      if (!isAbsent(s3FailureOf(error))) throw storeError(error);
    }
    await this.#cache.remove(sha256);
  }

  async pruneRejected({ before, dryRun }: PruneRejected): Promise<PrunedBytes> {
    const counts = { removed: 0, removedBytes: 0 };
    try {
      for await (const page of listPages(this.#place, REJECTED, null, Infinity))
        for (const { name, bytes, storedAt } of page) {
          if (storedAt === undefined || !(storedAt.getTime() < before)) continue;
          if (!dryRun) await this.#place.client.send(new DeleteObjectCommand(objectAt(this.#place, name)));
          counts.removed += 1;
          counts.removedBytes += bytes;
        }
    } catch (error) {
      throw storeError(error);
    }
    return counts;
  }

  /** Stores bytes from memory. @throws ArtifactError */
  async putBuffer(bytes: Uint8Array, options: PutOptions): Promise<ArtifactRef> {
    return this.putStream([bytes], options);
  }

  /** Stores a stream's bytes: all of them, or nothing. @throws ArtifactError */
  async putStream(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: PutOptions,
  ): Promise<ArtifactRef> {
    return writeWhole(this.#part(await this.#parts.stageOnce('put')), source, options);
  }

  async fetchTo(ref: ArtifactRef, destination: string): Promise<'written' | 'already_there'> {
    return fetchToFile(ref, destination, () => this.read(ref));
  }

  async identity(): Promise<string> {
    try {
      const known = await readObject(this.#place, IDENTITY_NAME);
      if (known !== null) return parseStoreIdentity(known);
      const mine = newIdentity();
      if ((await createObject(this.#place, IDENTITY_NAME, mine)) === 'won') return parseStoreIdentity(mine);
      return parseStoreIdentity((await readObject(this.#place, IDENTITY_NAME)) ?? '');
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Also rejects if the service ignores conditional puts (`If-None-Match: *`), because two workers could then mistake
   * one store for two. Leaves nothing in the bucket.
   */
  async checkWritable(): Promise<void> {
    await this.#parts.checkWritable();
    try {
      await probeConditionalPuts(this.#place, 'store artifacts or a journal');
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Deletes local parts that have not been modified for this long. Terminated activities leave such parts behind.
   * @returns the number of deleted parts
   */
  async removeStaleParts(olderThanMs = STALE_PART_MS, now = Date.now()): Promise<number> {
    return this.#parts.removeStale(olderThanMs, now);
  }

  /** Returns an artifact's size in bytes, and when it was stored, in milliseconds since the Unix epoch. */
  async #stored(sha256: string): Promise<{ readonly bytes: number; readonly storedAt: number } | null> {
    try {
      const reply = await this.#place.client.send(new HeadObjectCommand(this.#object(sha256)));
      return { bytes: reply.ContentLength ?? 0, storedAt: reply.LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (isAbsent(s3FailureOf(error))) return null;
      throw storeError(error);
    }
  }

  #part(part: FilePart): S3Part {
    return new S3Part(part, {
      store: async (path, ref) => {
        const stored = await this.#stored(ref.sha256);
        // The same name means the same bytes, unless something truncated the object, which is then replaced. An object
        // that will soon count as old is also replaced, because only a new put renews its time.
        const isThere = stored?.bytes === ref.bytes && Date.now() - stored.storedAt < STORED_AGAIN_MS;
        if (!isThere) await this.#upload(path, ref, nameOf(ref.sha256));
      },
      reject: (path, ref) => this.#upload(path, ref, `${REJECTED}${ref.sha256}.rejected`),
      kept: (bytes) => this.#cache.added(bytes),
    });
  }

  /**
   * Uploads a file in parts, or a small file in one request. The service checks each part's SHA-256. The bytes read are
   * hashed again, and the upload is completed only if they match the bytes written. A failed upload is aborted and
   * leaves nothing behind.
   */
  async #upload(path: string, ref: ArtifactRef, name: string): Promise<void> {
    const file = await openPart(path);
    const body = verifiedStream(file.createReadStream({ highWaterMark: 1024 * 1024 }), ref.sha256);
    const upload = new Upload({
      client: this.#place.client,
      params: {
        ...objectAt(this.#place, name),
        Body: body,
        ContentType: ref.mediaType,
        ChecksumAlgorithm: 'SHA256',
      },
      partSize: Math.max(PART_BYTES, Math.ceil(ref.bytes / MAX_PARTS)),
      queueSize: PARTS_AT_ONCE,
    });
    try {
      await upload.done();
    } catch (error) {
      throw storeError(error);
    } finally {
      // A failed upload leaves its body open, and with it the file.
      body.destroy();
      await file.close();
    }
  }

  #object(sha256: string): { readonly Bucket: string; readonly Key: string } {
    return objectAt(this.#place, nameOf(sha256));
  }
}

/** Creates an artifact store in a bucket. Does not contact the bucket until something is stored or read. */
export function createS3ArtifactStore(options: S3ArtifactStoreOptions): S3ArtifactStore {
  return new S3ArtifactStore(options);
}

async function openPart(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT')
      throw new ArtifactError('superseded', 'Another attempt of this download took over its part.');
    throw toArtifactError(error);
  }
}

function nameOf(sha256: string): string {
  return `${sha256.slice(0, 2)}/${sha256}`;
}

/** A read fails after more than this many consecutive broken connections without a byte in between. */
const BREAKS = 3;

/**
 * Returns an object's bytes. If a connection breaks, for example because the reader is slow and the service or the
 * client closes it, requests the rest of the same object (`Range`).
 * @throws the SDK's error if the read does not begin; the stream fails with an `ArtifactError`
 */
async function objectBytes(place: S3Place, name: string): Promise<Readable> {
  const first = await openObject(place, name);
  return Readable.from(followed(place, name, first), { objectMode: false });
}

interface OpenObject {
  readonly bytes: AsyncIterator<Uint8Array>;
  readonly total: number;
  readonly etag: string | undefined;
}

async function openObject(
  place: S3Place,
  name: string,
  rest?: { at: number; etag: string | undefined },
): Promise<OpenObject> {
  const reply = await place.client.send(
    new GetObjectCommand({
      ...objectAt(place, name),
      ...(rest !== undefined && { Range: `bytes=${rest.at}-`, IfMatch: rest.etag }),
    }),
  );
  const body = (reply.Body ?? Readable.from([])) as Readable;
  const at = rest?.at ?? 0;
  if (rest !== undefined && reply.ContentRange?.startsWith(`bytes ${at}-`) !== true) {
    body.destroy();
    throw new Error('The service returned a different range than requested.');
  }
  const bytes = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  return { bytes, total: at + (reply.ContentLength ?? 0), etag: reply.ETag };
}

async function* followed(place: S3Place, name: string, first: OpenObject): AsyncGenerator<Uint8Array> {
  const { total, etag } = first;
  let { bytes } = first;
  let at = 0;
  let breaks = 0;
  try {
    while (at < total) {
      const next = await bytes.next().catch((error: unknown) => ({ error }));
      if (!('error' in next) && next.done !== true) {
        at += next.value.length;
        breaks = 0;
        yield next.value;
        continue;
      }
      breaks += 1;
      if (breaks > BREAKS) throw 'error' in next ? next.error : new Error('The body ended early.');
      ({ bytes } = await openObject(place, name, { at, etag }));
    }
  } catch (error) {
    throw storeError(error);
  } finally {
    await bytes.return?.();
  }
}
