import { createS3Client, parseS3Address, S3AddressError } from '../../packages/store-s3/src';

describe('the address of a bucket', () => {
  it.each([
    ['s3://my-bucket', 'my-bucket', ''],
    ['s3://my-bucket/', 'my-bucket', ''],
    ['s3://my.bucket.1/media', 'my.bucket.1', 'media'],
    ['S3://my-bucket/a/b_c/D.e=1//', 'my-bucket', 'a/b_c/D.e=1'],
  ])('%s', (address, bucket, prefix) => {
    expect(parseS3Address(address)).toEqual({ bucket, prefix });
  });

  it.each([
    ['my-bucket/media', /begin with s3:\/\//],
    ['https://my-bucket.s3.amazonaws.com', /begin with s3:\/\//],
    ['s3://', /3 to 63/],
    ['s3://ab/x', /3 to 63/],
    ['s3://My-Bucket/x', /3 to 63/],
    ['s3://-bucket/x', /3 to 63/],
    [`s3://${'a'.repeat(64)}`, /3 to 63/],
    ['s3://key:hidden@my-bucket/x', /AWS_ACCESS_KEY_ID/],
    ['s3://my-bucket/x?region=hidden', /AWS_REGION/],
    ['s3://my-bucket/x#y', /nothing else/],
    ['s3://my-bucket//x', /single slashes/],
    ['s3://my-bucket/../x', /single slashes/],
    ['s3://my-bucket/a b', /single slashes/],
    ['s3://my-bucket/ä', /single slashes/],
    [`s3://my-bucket/${'x'.repeat(513)}`, /at most 512/],
    ['s3://fast--use1-az4--x-s3/x', /directory bucket/],
  ])('%s is none, and why is said without it', (address, reason) => {
    const parse = () => parseS3Address(address);
    expect(parse).toThrow(S3AddressError);
    expect(parse).toThrow(reason);
    expect(parse).not.toThrow(/hidden/);
  });
});

describe('the client of a bucket', () => {
  const of = async (env: NodeJS.ProcessEnv) => {
    const { config } = createS3Client(env);
    const endpoint = await config.endpoint?.();
    return {
      region: await config.region(),
      host: endpoint?.hostname,
      byPath: config.forcePathStyle ?? false,
    };
  };

  it('takes an endpoint of its own by path, and any region there', async () => {
    const host = 'storage.example.com';
    expect(await of({ AWS_ENDPOINT_URL: `https://${host}` })).toEqual({
      region: 'us-east-1',
      host,
      byPath: true,
    });
    const both = {
      AWS_ENDPOINT_URL_S3: `http://${host}:9000`,
      AWS_ENDPOINT_URL: 'https://other.example.com',
    };
    expect(await of({ ...both, AWS_REGION: 'auto' })).toEqual({ region: 'auto', host, byPath: true });
  });

  it('leaves Amazon to the SDK', async () => {
    const expected = { region: 'eu-central-1', host: undefined, byPath: false };
    expect(await of({ AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL_S3: '' })).toEqual(expected);
  });

  it('takes the keys of its environment, which need not be that of the process', async () => {
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    const { config } = createS3Client({ AWS_REGION: 'eu-central-1', ...keys, AWS_SESSION_TOKEN: 'token' });
    expect(await config.credentials()).toMatchObject({
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    });
  });

  it.each(['storage.example.com', 'ftp://storage.example.com', 'https://'])(
    'refuses the endpoint %s',
    (endpoint) => {
      expect(() => createS3Client({ AWS_ENDPOINT_URL_S3: endpoint })).toThrow(
        /^AWS_ENDPOINT_URL_S3 must be an http/,
      );
      expect(() => createS3Client({ AWS_ENDPOINT_URL: endpoint })).toThrow(
        /^AWS_ENDPOINT_URL must be an http/,
      );
    },
  );
});
