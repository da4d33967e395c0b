import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { S3AddressError } from './address';

/** Time in milliseconds until a connection is there. */
const CONNECT_MS = 5_000;
/** Until a reply begins: the service takes in a part of an upload before it answers. */
const REPLY_MS = 60_000;
/** Without a byte in either direction. */
const IDLE_MS = 30_000;

/** Where an endpoint is set, most services take any region. */
const REGION_OF_ENDPOINTS = 'us-east-1';

/**
 * A client that is configured as every program of the AWS SDK: region, credentials and endpoint come from `AWS_REGION`,
 * `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` and the further places that the SDK looks
 * in. An endpoint of one's own (R2, MinIO) is addressed by path, and needs no region. Connections and replies have time
 * limits, because the SDK has none.
 * @throws S3AddressError when the endpoint is no address
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

/** Keys of this environment, which need not be that of the process; a profile comes first, as in the SDK. */
function credentialsOf(env: NodeJS.ProcessEnv): S3ClientConfig['credentials'] {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = env['AWS_SESSION_TOKEN'];
  if (env['AWS_PROFILE'] || !accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
