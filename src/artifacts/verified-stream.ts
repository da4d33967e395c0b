import { createHash } from 'node:crypto';
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { ArtifactError, toArtifactError } from './artifact-store';

/** Passes the bytes on and fails at the end, with `hash_mismatch`, when they do not have this SHA-256. */
export function verifiedStream(source: Readable, sha256: string): Readable {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done: TransformCallback) {
      const same = hash.digest('hex') === sha256;
      done(same ? null : new ArtifactError('hash_mismatch', `Artifact ${sha256} is damaged in the store.`));
    },
  });
  source.once('error', (error) => check.destroy(toArtifactError(error)));
  // pipeline closes the source when the reader closes the result, and passes errors on to the reader.
  pipeline(source, check, () => undefined);
  return check;
}
