import { createHash } from 'node:crypto';
import { type ArtifactStore } from '../../artifacts/artifact-store';
import { artifactUri } from '../../domain/media';

/** A store that keeps nothing: it only tells what the bytes are. For requests that are shown and not sent. */
export const measuringStore: Pick<ArtifactStore, 'putStream'> = {
  putStream: async (source, { mediaType }) => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    const sha256 = hash.digest('hex');
    return { uri: artifactUri(sha256), mediaType, bytes, sha256 };
  },
};
