import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type StorageDriver } from '@temporalio/common';
import type * as Driver from '@temporalio/external-storage-s3';
import { LRUCache } from 'lru-cache';
import { parseS3Address, S3AddressError } from './address';
import { isAbsent, s3Error, s3FailureOf } from './s3-error';

/** Timeout per request, including the SDK's retries. */
const REQUEST_MS = 20_000;

const DRIVER = '@temporalio/external-storage-s3';

/** MinIO and other servers over a file system accept no longer part of a key, and S3 no key above 1,024 bytes. */
const LONGEST_PART = 255;
/** Maximum total size of the payloads that a driver remembers. */
const REMEMBERED_BYTES = 64 * 1024 * 1024;
const REMEMBERED_MS = 10 * 60_000;

/**
 * Creates Temporal's S3 driver for payloads in a bucket, which the drivers of other languages can read. The driver names
 * its objects itself, below `v0/`. The caller owns and closes the client.
 * @throws S3AddressError for an address with a prefix, and an Error if the driver's package is not installed
 */
export function createPayloadDriver(address: string, client: S3Client): StorageDriver {
  const { bucket, prefix } = parseS3Address(address);
  if (prefix !== '')
    throw new S3AddressError(
      'must be a bucket without a prefix, as in s3://my-payloads, because the Temporal driver names its objects.',
    );
  const { S3StorageDriver } = loadDriver();
  const driver = new S3StorageDriver({ bucket, client: new DriverClient(client) });
  return {
    name: driver.name,
    type: driver.type,
    store: ({ target, ...context }, payloads) =>
      driver.store({ ...context, ...(target !== undefined && { target: withShortId(target) }) }, payloads),
    retrieve: (context, claims) => driver.retrieve(context, claims),
  };
}

type Target = NonNullable<Parameters<StorageDriver['store']>[0]['target']>;

/** Replaces an id that is too long for a key with its hash. Readers take the key from the reference. */
function withShortId(target: Target): Target {
  const { id = '' } = target;
  // As the driver writes it.
  if (encodeURIComponent(id).replaceAll('~', '%7E').length <= LONGEST_PART) return target;
  return { ...target, id: hashOf(id) };
}

const hashOf = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function loadDriver(): typeof Driver {
  try {
    // Required only here, because it installs a second version of @temporalio/common that most buckets do not need.
    return createRequire(__filename)(DRIVER) as typeof Driver;
  } catch (error) {
    if (!(error as Error).message.includes(`'${DRIVER}'`)) throw error;
    throw new Error(`needs the package ${DRIVER}. Run: npm install ${DRIVER}`, { cause: error });
  }
}

/**
 * The driver's requests, with a time limit and without a bucket or key in their errors. The SDK reads and writes the
 * payloads of a workflow task one after another and repeats all of them if the task times out. What an attempt has
 * transferred is therefore remembered, because the next one would otherwise time out too. A key contains the payload's
 * hash, so a remembered payload is never outdated.
 */
class DriverClient implements Driver.S3StorageDriverClient {
  /** Objects that were transferred in the last minutes. A bucket's lifecycle rule may remove older ones. */
  private readonly recent = new LRUCache<string, { readonly data?: Uint8Array }>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ data }, name) => name.length + (data?.length ?? 0),
    ttl: REMEMBERED_MS,
  });

  constructor(private readonly client: S3Client) {}

  async objectExists(bucket: string, key: string, options?: Driver.S3RequestOptions): Promise<boolean> {
    if (this.recent.has(nameOf(bucket, key))) return true;
    try {
      await this.client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), limited(options));
      this.recent.set(nameOf(bucket, key), {});
      return true;
    } catch (error) {
      if (isAbsent(s3FailureOf(error))) return false;
      throw failed('written', error);
    }
  }

  async putObject(
    bucket: string,
    key: string,
    data: Uint8Array,
    options?: Driver.S3RequestOptions,
  ): Promise<void> {
    const put = new PutObjectCommand({ Bucket: bucket, Key: key, Body: data });
    await this.client.send(put, limited(options)).catch((error: unknown) => {
      throw failed('written', error);
    });
    this.recent.set(nameOf(bucket, key), { data });
  }

  async getObject(bucket: string, key: string, options?: Driver.S3RequestOptions): Promise<Uint8Array> {
    const known = this.recent.get(nameOf(bucket, key))?.data;
    if (known !== undefined) return known;
    try {
      const reply = await this.client.send(
        new GetObjectCommand({ Bucket: bucket, Key: key }),
        limited(options),
      );
      const data = (await reply.Body?.transformToByteArray()) ?? new Uint8Array();
      // The driver refuses damaged bytes, and the next attempt must read the object again.
      if (key.endsWith(hashOf(data))) this.recent.set(nameOf(bucket, key), { data });
      return data;
    } catch (error) {
      throw failed('read', error);
    }
  }
}

const nameOf = (bucket: string, key: string): string => `${bucket} ${key}`;

function limited({ abortSignal }: Driver.S3RequestOptions = {}): { readonly abortSignal: AbortSignal } {
  const limit = AbortSignal.timeout(REQUEST_MS);
  return { abortSignal: abortSignal === undefined ? limit : AbortSignal.any([abortSignal, limit]) };
}

function failed(what: 'read' | 'written', error: unknown): Error {
  return s3Error(`A payload could not be ${what} in its bucket`, s3FailureOf(error));
}
