import { failureOf as failureOfCommand } from '../../packages/cli/src/shared/errors';
import { createS3Client, createS3Records, S3Error } from '../../packages/store-s3/src';
import { s3FailureOf, s3Error, storeError } from '../../packages/store-s3/src/s3-error';

/** Of an environment in which the SDK finds nothing, also not in the files of this machine. */
const NOTHING = { AWS_CONFIG_FILE: '/nowhere/config', AWS_SHARED_CREDENTIALS_FILE: '/nowhere/credentials' };
const KEYS = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };

describe('what an S3 error says to do', () => {
  const before = { ...process.env };
  beforeEach(() => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) delete process.env[name];
    Object.assign(process.env, NOTHING);
  });
  afterEach(() => {
    process.env = { ...before };
  });

  it('without a region: to set it, at once, and nothing may have been written', async () => {
    const client = createS3Client(KEYS);
    const records = createS3Records({ client, bucket: 'bucket', prefix: '' });
    const error = await records.create('keys/aa/x', 'text').catch((thrown: unknown) => thrown as S3Error);
    expect(error).toBeInstanceOf(S3Error);
    expect((error as S3Error).message).toMatch(/did not store a record \(RegionMissing\)\. Set AWS_REGION/);
  });

  it.each([
    ['QuotaExceeded', 507, 'no_space', /bucket's quota/],
    ['AccessDenied', 403, 'not_writable', /permissions for the bucket/],
    ['InvalidRequest', 400, 'not_writable', /^Fix the address/],
    ['MethodNotAllowed', 405, 'not_writable', /^Fix the address/],
    ['PermanentRedirect', 301, 'not_writable', /^Fix the address/],
    ['SlowDown', 503, 'storage', /bucket's service/],
  ])(
    'of artifacts, with %s: what to do with a bucket, and nothing about disks',
    (name, status, code, hint) => {
      const thrown = Object.assign(new Error('x'), { name, $metadata: { httpStatusCode: status } });
      const error = storeError(thrown);
      expect(error.code).toBe(code);
      expect(error.hint).toMatch(hint);
      const { reply } = failureOfCommand(error);
      expect(reply).toMatchObject({ type: `artifacts/${code}`, hint: error.hint });
      expect(JSON.stringify(reply)).not.toMatch(/MEDIA_DATA_DIR|[Mm]ake room/);
    },
  );

  it('with expired credentials, a wrong clock and no connection: which one it is', () => {
    const of = (name: string, status: number | undefined) =>
      s3Error(
        'No',
        s3FailureOf(Object.assign(new Error('x'), { name, $metadata: { httpStatusCode: status } })),
      ).message;
    expect(of('ExpiredToken', 400)).toMatch(/credentials have expired/);
    expect(of('RequestTimeTooSkewed', 403)).toMatch(/machine's clock/);
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(s3Error('No', s3FailureOf(refused)).message).toMatch(/AWS_ENDPOINT_URL_S3/);
  });
});
