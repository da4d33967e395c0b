import { createRequire } from 'node:module';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type StorageDriver } from '@temporalio/common';
import type * as Driver from '@temporalio/external-storage-s3';
import { parseS3Address, S3AddressError } from './address';
import { isAbsent, s3Error, s3FailureOf } from './s3-error';

/** Timeout per request, including the SDK's retries. */
const REQUEST_MS = 20_000;

const DRIVER = '@temporalio/external-storage-s3';

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
  return new S3StorageDriver({ bucket, client: new DriverClient(client) });
}

function loadDriver(): typeof Driver {
  try {
    // Required only here, because it installs a second version of @temporalio/common that most buckets do not need.
    return createRequire(__filename)(DRIVER) as typeof Driver;
  } catch (error) {
    if (!(error as Error).message.includes(`'${DRIVER}'`)) throw error;
    throw new Error(`needs the package ${DRIVER}. Run: npm install ${DRIVER}`, { cause: error });
  }
}

/** The driver's requests, with a time limit and without a bucket or key in their errors. */
class DriverClient implements Driver.S3StorageDriverClient {
  constructor(private readonly client: S3Client) {}

  async objectExists(bucket: string, key: string, options?: Driver.S3RequestOptions): Promise<boolean> {
    try {
      await this.client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), limited(options));
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
  }

  async getObject(bucket: string, key: string, options?: Driver.S3RequestOptions): Promise<Uint8Array> {
    try {
      const reply = await this.client.send(
        new GetObjectCommand({ Bucket: bucket, Key: key }),
        limited(options),
      );
      return (await reply.Body?.transformToByteArray()) ?? new Uint8Array();
    } catch (error) {
      throw failed('read', error);
    }
  }
}

function limited({ abortSignal }: Driver.S3RequestOptions = {}): { readonly abortSignal: AbortSignal } {
  const limit = AbortSignal.timeout(REQUEST_MS);
  return { abortSignal: abortSignal === undefined ? limit : AbortSignal.any([abortSignal, limit]) };
}

function failed(what: 'read' | 'written', error: unknown): Error {
  return s3Error(`A payload could not be ${what} in its bucket`, s3FailureOf(error));
}
