/** A location in a bucket. All of a store's keys begin with the prefix and a slash. */
export interface S3Address {
  /** The bucket's name. */
  readonly bucket: string;
  /** Without leading and trailing slashes; empty for the whole bucket. */
  readonly prefix: string;
}

/** Thrown for an invalid bucket address. The message does not repeat it, because it may contain secrets. */
export class S3AddressError extends Error {
  override readonly name = 'S3AddressError';
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const SEGMENT = /^[A-Za-z0-9!_.*'()=-]+$/;
/** A key has at most 1,024 bytes, and a name in a store at most 200. */
const LONGEST_PREFIX = 512;

/**
 * Reads `s3://bucket/prefix`.
 * @throws an S3AddressError that says what is wrong with the address
 */
export function parseS3Address(address: string): S3Address {
  const rest = /^s3:\/\/(.*)$/is.exec(address)?.[1];
  if (rest === undefined)
    throw new S3AddressError('A bucket address must begin with s3://, as in s3://my-bucket/media.');
  if (/[@?#]/.test(rest)) {
    throw new S3AddressError(
      'A bucket address must be s3://bucket/prefix and nothing else. Set keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, another service in AWS_ENDPOINT_URL_S3, and a region in AWS_REGION.',
    );
  }
  const [bucket = '', ...segments] = rest.replace(/(?<!\/)\/+$/, '').split('/');
  if (!BUCKET.test(bucket)) {
    throw new S3AddressError(
      'A bucket name must have 3 to 63 lowercase letters, digits, dots and hyphens, as in s3://my-bucket/media.',
    );
  }
  if (bucket.endsWith('--x-s3')) {
    throw new S3AddressError(
      'A directory bucket (S3 Express One Zone) does not list its objects in order. Use a general purpose bucket.',
    );
  }
  const prefix = segments.join('/');
  if (segments.some((segment) => !SEGMENT.test(segment) || /^\.+$/.test(segment)))
    throw new S3AddressError(
      "A bucket prefix must consist of names separated by single slashes, with only letters, digits and - _ . ! * ' ( ) =.",
    );
  if (prefix.length > LONGEST_PREFIX)
    throw new S3AddressError(`A bucket prefix can be at most ${LONGEST_PREFIX} characters long.`);
  return { bucket, prefix };
}
