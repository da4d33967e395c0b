/** A place in a bucket: all keys of a store begin with the prefix and a slash. */
export interface S3Address {
  /** Name of the bucket. */
  readonly bucket: string;
  /** Without leading and trailing slashes; empty for the whole bucket. */
  readonly prefix: string;
}

/** The address of a bucket cannot be used. The message does not repeat it, because it may contain secrets. */
export class S3AddressError extends Error {
  override readonly name = 'S3AddressError';
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const SEGMENT = /^[A-Za-z0-9!_.*'()=-]+$/;
/** A key has at most 1,024 bytes, a store's name at most 200. */
const LONGEST_PREFIX = 512;

/**
 * Reads `s3://bucket/prefix`.
 * @throws S3AddressError with a sentence about what is wrong with it
 */
export function parseS3Address(address: string): S3Address {
  const rest = /^s3:\/\/(.*)$/is.exec(address)?.[1];
  if (rest === undefined)
    throw new S3AddressError('The address of a bucket begins with s3://, as in s3://my-bucket/media.');
  if (/[@?#]/.test(rest)) {
    throw new S3AddressError(
      'The address of a bucket is s3://bucket/prefix and nothing more: keys are given as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, another service as AWS_ENDPOINT_URL_S3, a region as AWS_REGION.',
    );
  }
  const [bucket = '', ...segments] = rest.replace(/(?<!\/)\/+$/, '').split('/');
  if (!BUCKET.test(bucket)) {
    throw new S3AddressError(
      'The name of a bucket has 3 to 63 lowercase letters, digits, dots and hyphens, as in s3://my-bucket/media.',
    );
  }
  if (bucket.endsWith('--x-s3')) {
    throw new S3AddressError(
      'A directory bucket (S3 Express One Zone) lists its objects in no order: use a general purpose bucket.',
    );
  }
  const prefix = segments.join('/');
  if (segments.some((segment) => !SEGMENT.test(segment) || /^\.+$/.test(segment)))
    throw new S3AddressError(
      "The prefix of a bucket consists of names between single slashes, of letters, digits and - _ . ! * ' ( ) = only.",
    );
  if (prefix.length > LONGEST_PREFIX)
    throw new S3AddressError(`The prefix of a bucket has at most ${LONGEST_PREFIX} characters.`);
  return { bucket, prefix };
}
