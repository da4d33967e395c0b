import { ArtifactError, toArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { type ArtifactErrorCode } from 'temporal-media/stores';

/** Thrown when a request to a bucket fails. The message contains no bucket, key, address or credential. */
export class S3Error extends Error {
  override readonly name = 'S3Error';

  constructor(
    message: string,
    /** HTTP status of the reply; null when there was none. */
    readonly status: number | null,
    /** A service code (`SlowDown`), a system code (`ECONNRESET`), or `unknown`. */
    readonly code: string,
  ) {
    super(message);
  }
}

/** The reply to a failed request, without the service's text. */
export interface S3Failure {
  readonly status: number | null;
  readonly code: string;
}

/** Uninformative error names. They occur because a reply to HEAD has no body with an error code. */
const NO_CODE: ReadonlySet<string> = new Set(['Error', 'Unknown', 'UnknownError']);

/** Code for a missing region, because the SDK has none for it. */
export const NO_REGION = 'RegionMissing';

/** Converts an SDK error. */
export function s3FailureOf(error: unknown): S3Failure {
  if (error instanceof S3Error) return error;
  const { name, $metadata } = (error ?? {}) as { name?: unknown; $metadata?: { httpStatusCode?: unknown } };
  const status = typeof $metadata?.httpStatusCode === 'number' ? $metadata.httpStatusCode : null;
  const system = systemCode(error);
  // An error's name is the service's code, or an SDK name: TimeoutError, CredentialsProviderError.
  if (
    status === null &&
    /region is missing/i.test((error as { message?: unknown } | null)?.message as string)
  )
    return { status, code: NO_REGION };
  const word =
    typeof name === 'string' && /^[A-Za-z0-9.]{1,60}$/.test(name) && !NO_CODE.has(name) ? name : 'unknown';
  return { status, code: status === null && system !== 'unknown' ? system : word };
}

/** Describes a failure: `HTTP 503 SlowDown`, `ECONNRESET`, `no answer in time`. */
export function describeFailure({ status, code }: S3Failure): string {
  if (status !== null) return code === 'unknown' ? `HTTP ${status}` : `HTTP ${status} ${code}`;
  if (code === 'TimeoutError' || code === 'AbortError') return 'no answer in time';
  return code === 'unknown' ? 'the reply is truncated or damaged' : code;
}

/**
 * Creates an error with a message for people. @param what a sentence that says what was not done, without its final
 * period
 */
export function s3Error(what: string, failure: S3Failure): S3Error {
  return new S3Error(
    `${what} (${describeFailure(failure)}).${remedyOf(failure)}`,
    failure.status,
    failure.code,
  );
}

const PERMISSIONS = 's3:GetObject, s3:PutObject, s3:DeleteObject, s3:ListBucket, s3:AbortMultipartUpload';

function remedyOf({ status, code }: S3Failure): string {
  if (code === 'CredentialsProviderError' || code === 'NoAuth')
    return ' No AWS credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or assign a role to this machine.';
  if (code === NO_REGION) return " Set AWS_REGION to the bucket's region.";
  if (code === 'ExpiredToken') return ' The AWS credentials have expired. Renew them.';
  if (code === 'RequestTimeTooSkewed') return " This machine's clock is wrong. Synchronize it.";
  if (code === 'NoSuchBucket')
    return ' The bucket does not exist in this service. Create it, or fix its address.';
  if (status === 301 || code === 'AuthorizationHeaderMalformed')
    return ' The bucket may be in another region. Set AWS_REGION to its region.';
  if (code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch')
    return ' The AWS credentials are wrong.';
  if (status === 403)
    return ` The AWS credentials are wrong, or lack one of these permissions: ${PERMISSIONS}.`;
  return status === null ? ' Check the network and, if it is set, AWS_ENDPOINT_URL_S3.' : '';
}

/** Whether the reply says that the object does not exist. A missing bucket does not count. */
export function isAbsent({ status, code }: S3Failure): boolean {
  return status === 404 && code !== 'NoSuchBucket';
}

/** Converts a failure of the bucket, or of the local disk for its parts, to an artifact store's error. */
export function storeError(error: unknown): ArtifactError {
  const local = toArtifactError(error);
  if (local === error || local.code !== 'storage') return local;
  const failure = s3FailureOf(error);
  const known =
    error instanceof S3Error ? error : s3Error("A request to the artifact store's bucket failed", failure);
  const code = codeOf(failure);
  return new ArtifactError(code, known.message, HINTS[code]);
}

/** Hints for a bucket, where freeing disk space does not help. */
const HINTS: { readonly [code in ArtifactErrorCode]?: string } = {
  no_space: "Raise the bucket's quota, or remove old results with `temporal-media artifacts prune`.",
  not_writable:
    'Fix the address in MEDIA_ARTIFACTS, the AWS credentials, or their permissions for the bucket.',
  storage:
    "Try again. If the error persists, check the bucket's service, MEDIA_ARTIFACTS, AWS_REGION and AWS_ENDPOINT_URL_S3.",
};

/** HTTP statuses of refusals that recur until an operator fixes the settings. */
const REFUSED: ReadonlySet<number> = new Set([301, 307, 400, 401, 403, 405, 411, 413, 501]);
const NOT_ALLOWED: ReadonlySet<string> = new Set(['NoSuchBucket', 'CredentialsProviderError']);

function codeOf({ status, code }: S3Failure): ArtifactErrorCode {
  if (status === 507 || /quota/i.test(code)) return 'no_space';
  return REFUSED.has(status ?? 0) || NOT_ALLOWED.has(code) ? 'not_writable' : 'storage';
}
