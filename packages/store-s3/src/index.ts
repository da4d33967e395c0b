/**
 * Stores the journal and the artifacts in an Amazon S3 or S3-compatible bucket, shared by any number of hosts. Workers
 * use it if MEDIA_JOURNAL or MEDIA_ARTIFACTS begins with s3://. Programs can use it with their own client.
 *
 * @module
 */
import { S3Client, type S3ClientConfig, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type StorageDriver } from '@temporalio/common';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import {
  type ArtifactStorePackage,
  type PayloadStorePackage,
} from 'temporal-media/internal/stores/open-stores';
import { type RecordStore } from 'temporal-media/stores';
import { parseS3Address, S3AddressError } from './address';
import { createPayloadDriver } from './payload-driver';
import { createS3ArtifactStore } from './s3-artifact-store';
import { s3FailureOf, isAbsent, s3Error } from './s3-error';
import {
  createObject,
  listPages,
  objectAt,
  probeConditionalPuts,
  putInput,
  readObject,
  type S3Place,
} from './s3-requests';

export { parseS3Address, S3AddressError, type S3Address } from './address';
export { type S3Place } from './s3-requests';
export { createS3ArtifactStore, S3ArtifactStore, type S3ArtifactStoreOptions } from './s3-artifact-store';
export { S3Error } from './s3-error';

/** Connection timeout in milliseconds. */
const CONNECT_MS = 5_000;
/**
 * Timeout until a reply begins, in milliseconds. The service replies only after it has received a whole upload part.
 */
const REPLY_MS = 60_000;
/** Timeout without a byte in either direction, in milliseconds. */
const IDLE_MS = 30_000;

/** With a custom endpoint, most services accept any region. */
const REGION_OF_ENDPOINTS = 'us-east-1';

/**
 * Creates a client with the same configuration as any other program that uses the AWS SDK: region, credentials and
 * endpoint come from `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` and
 * the SDK's other sources. A custom endpoint (R2, MinIO) is addressed by path and needs no region. Connections and
 * replies have time limits, because the SDK has none.
 * @throws S3AddressError if the endpoint is not a valid address
 */
export function createS3Client(env: NodeJS.ProcessEnv = process.env): S3Client {
  const endpoint = endpointOf(env);
  const region = env['AWS_REGION'] || (endpoint === undefined ? undefined : REGION_OF_ENDPOINTS);
  const credentials = credentialsOf(env);
  return new S3Client({
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(region !== undefined && { region }),
    ...(credentials !== undefined && { credentials }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REPLY_MS,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_MS,
    },
  });
}

function endpointOf(env: NodeJS.ProcessEnv): string | undefined {
  const variable = env['AWS_ENDPOINT_URL_S3'] ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
  const endpoint = env[variable];
  if (!endpoint) return undefined;
  if (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)) return endpoint;
  throw new S3AddressError(
    `${variable} must be an http or https address, as in https://storage.example.com.`,
  );
}

/**
 * Reads keys from this environment, which may differ from the process environment. A profile takes precedence, as in
 * the SDK.
 */
function credentialsOf(env: NodeJS.ProcessEnv): S3ClientConfig['credentials'] {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = env['AWS_SESSION_TOKEN'];
  if (env['AWS_PROFILE'] || !accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

/** Concurrent reads per call. */
const AT_ONCE = 16;
/** Timeout per request, including the SDK's retries. */
const REQUEST_MS = 20_000;
const limited = () => ({ abortSignal: AbortSignal.timeout(REQUEST_MS) });

/**
 * Creates a record store in a bucket, for any number of hosts. Each record is an object named `<prefix>/<name>`. Every
 * method rejects with an `S3Error`. The caller owns and closes the client.
 */
export function createS3Records(place: S3Place): RecordStore {
  const { client } = place;
  const dropped = (name: string) => new DeleteObjectCommand(objectAt(place, name));

  async function names(prefix: string, after: string | null, limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    if (limit < 1) return found;
    try {
      for await (const page of listPages(place, prefix, after, limit)) {
        found.push(...page.map(({ name }) => name));
        if (found.length >= limit) return found.slice(0, limit);
      }
    } catch (error) {
      throw s3Error("The bucket's records could not be listed", s3FailureOf(error));
    }
    return found;
  }

  return {
    kind: 's3',
    names,
    read: (name) => readObject(place, name),
    create: (name, text) => createObject(place, name, text),

    async readAll(prefix) {
      const all = await names(prefix, null, Infinity);
      const texts = new Map<string, string | null>(all.map((name) => [name, null]));
      await mapConcurrently(all, AT_ONCE, async (name) => {
        texts.set(name, await readObject(place, name));
      });
      // Skips records that were removed after they were listed.
      return new Map([...texts].filter((entry): entry is [string, string] => entry[1] !== null));
    },

    async note(name, text) {
      if (text === null) {
        await client.send(dropped(name), limited()).catch(otherwise(undefined));
        return;
      }
      try {
        await client.send(new PutObjectCommand(putInput(place, name, text)), limited());
      } catch (error) {
        throw s3Error('A hint could not be written to the bucket', s3FailureOf(error));
      }
    },

    async remove(name) {
      try {
        await client.send(dropped(name), limited());
      } catch (error) {
        const failure = s3FailureOf(error);
        if (!isAbsent(failure)) throw s3Error('A record could not be removed from the bucket', failure);
      }
    },

    check: () => probeConditionalPuts(place, 'store a journal'),
  };
}

/** Opens the stores at the addresses in MEDIA_JOURNAL, MEDIA_ARTIFACTS and MEDIA_EXTERNAL_STORAGE. */
export const storePackage: ArtifactStorePackage & PayloadStorePackage<StorageDriver> = {
  openRecords: (address) => createS3Records({ client: createS3Client(), ...parseS3Address(address) }),
  openArtifactStore: (address, options) =>
    createS3ArtifactStore({ client: createS3Client(), ...parseS3Address(address), ...options }),
  openPayloadDriver: (address) => createPayloadDriver(address, createS3Client()),
};
