import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type S3Client } from '@aws-sdk/client-s3';
import { createS3Client } from '../../../packages/store-s3/src';
import { findS3, type S3Server } from '../../../scripts/stores/s3';
import { type FaultProxy } from './fault-proxy';

/** `describe`, or a skip that says in one line what is missing and what to install. */
export function describeWithS3(): jest.Describe {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const found = findS3({ say });
  if (found.path !== null) return describe;
  say(`SKIPPED ${expect.getState().testPath}: ${found.reason}`);
  return describe.skip;
}

/** A client of the server, or of a proxy before it. */
export function clientOf(server: S3Server, { endpoint }: { readonly endpoint: string } = server): S3Client {
  return createS3Client({ ...server.env, AWS_ENDPOINT_URL_S3: endpoint });
}

/** A new bucket; its name would show in a message. */
export async function newBucket(server: S3Server): Promise<string> {
  const name = `bucket-${randomUUID()}`;
  await server.createBucket(name);
  return name;
}

/** Turns the server behind a proxy into one that takes every put, as one that does not know `If-None-Match` does. */
export function ignoreConditions(proxy: FaultProxy, server: S3Server): void {
  proxy.before = async ({ method, url }) => {
    const file = join(server.dir, 'buckets', decodeURIComponent(new URL(url, proxy.endpoint).pathname));
    if (method === 'PUT') await rm(file, { force: true });
  };
}
