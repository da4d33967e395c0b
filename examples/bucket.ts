// Stores the journal and results in a bucket, so workers can run on any number of hosts. Also links to a film.
// npm install @temporal-media/store-s3. Set AWS_* as for any program that uses the AWS SDK.
import { type ArtifactRef } from 'temporal-media';
import { openArtifactStore } from 'temporal-media/stores';
import { createMediaWorker } from 'temporal-media/worker';

export function bucketWorker(bucket: string, env: NodeJS.ProcessEnv = process.env) {
  return createMediaWorker({ env: inBucket(bucket, env) });
}

/** Anyone with the link can download the film for an hour. Don't log it or return it from an activity. */
export async function linkTo(film: ArtifactRef, bucket: string, env: NodeJS.ProcessEnv = process.env) {
  const store = await openArtifactStore(inBucket(bucket, env));
  return store.presign?.(film, { expiresMs: 60 * 60_000 });
}

function inBucket(bucket: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, MEDIA_JOURNAL: `s3://${bucket}/journal`, MEDIA_ARTIFACTS: `s3://${bucket}/artifacts` };
}
