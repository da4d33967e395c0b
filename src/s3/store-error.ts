import { ArtifactError, type ArtifactErrorCode, toArtifactError } from '../artifacts/artifact-store';
import { failureOf, S3Error, type S3Failure, s3Error } from './s3-error';

/** The error of an artifact store in a bucket, whatever failed: the local disk that holds its parts, or the bucket. */
export function storeError(error: unknown): ArtifactError {
  const local = toArtifactError(error);
  if (local === error || local.code !== 'storage') return local;
  const failure = failureOf(error);
  const told = error instanceof S3Error ? error : s3Error('The bucket of the artifact store failed', failure);
  const code = codeOf(failure);
  return new ArtifactError(code, told.message, HINTS[code]);
}

/** A bucket has no disk to make room on. */
const HINTS: { readonly [code in ArtifactErrorCode]?: string } = {
  no_space: 'Raise the quota of the bucket, or remove old results with `temporal-media artifacts prune`.',
  not_writable:
    'Correct the address in MEDIA_ARTIFACTS, the AWS credentials, or their permissions for the bucket.',
  storage:
    'Try again. If it lasts, check the service of the bucket, and MEDIA_ARTIFACTS, AWS_REGION and AWS_ENDPOINT_URL_S3.',
};

/** Refusals that the same request meets again, until somebody corrects the settings. */
const REFUSED: ReadonlySet<number> = new Set([301, 307, 400, 401, 403, 405, 411, 413, 501]);
const NOT_ALLOWED: ReadonlySet<string> = new Set(['NoSuchBucket', 'CredentialsProviderError']);

function codeOf({ status, code }: S3Failure): ArtifactErrorCode {
  if (status === 507 || /quota/i.test(code)) return 'no_space';
  return REFUSED.has(status ?? 0) || NOT_ALLOWED.has(code) ? 'not_writable' : 'storage';
}
