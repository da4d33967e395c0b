import { createHash } from 'node:crypto';
import { bucketWorker, linkTo } from '../../examples/bucket';
import { startS3, type S3Server } from '../../scripts/stores/s3';
import { accepted } from '../support/accepted';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { describeWithS3, newBucket } from './support/s3';

describeWithS3()('examples/bucket.ts', () => {
  let server: S3Server;
  let stack: MediaStack;

  beforeAll(async () => {
    [server, stack] = await Promise.all([
      startS3(),
      startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 } } }),
    ]);
  });
  afterAll(async () => {
    await stack.stop();
    await server.stop();
  });

  it('a film is made with journal and results in the bucket, and its address leads to the very bytes', async () => {
    const bucket = await newBucket(server);
    // The AWS SDK reads those of its process.
    Object.assign(process.env, server.env);
    const env = { ...process.env, ...stack.env };
    const media = await bucketWorker(bucket, env);
    const running = media.run();
    try {
      const request = { model: 'cine-1', prompt: 'a bucket of herons', durationSeconds: 2 };
      const id = stack.server.uniqueId('bucket');
      const film = await (await stack.media.startVideo({ request }, { id })).result();
      if (film.outcome !== 'completed') throw new Error(film.outcome);
      const link = (await linkTo(film.artifact, bucket, env)) ?? '';
      expect(new URL(link).origin).toBe(new URL(server.endpoint).origin);
      const bytes = Buffer.from(await (await fetch(link)).arrayBuffer());
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(film.artifact.sha256);
      expect(await (await stack.media.startVideo({ request }, { id })).result()).toEqual(film);
      expect(await accepted(stack, request.prompt)).toBe(1);
    } finally {
      media.shutdown();
      await running;
    }
  });
});
