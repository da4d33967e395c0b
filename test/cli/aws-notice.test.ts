import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MAIN = join(__dirname, '..', '..', 'packages', 'cli', 'lib', 'main.js');

it('the AWS SDK says nothing about versions of Node beside the answer of a command', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'temporal-media-notice-'));
  // Nobody listens on port 1.
  const env = {
    ...{ PATH: process.env['PATH'], MEDIA_DATA_DIR: dir, MEDIA_JOURNAL: 's3://bucket/journal' },
    ...{ MEDIA_ARTIFACTS: 's3://bucket/files', AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' },
    ...{ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key', TEMPORAL_ADDRESS: '127.0.0.1:1' },
  };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [MAIN, 'doctor', '-o', 'json'], {
      env,
    }).catch((error: unknown) => error as { stdout: string; stderr: string });
    // The bucket was asked, so that the SDK had its chance.
    expect(stdout).toContain('ECONNREFUSED');
    expect(stderr).not.toMatch(/NodeVersionSupportWarning|AWS SDK/);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
