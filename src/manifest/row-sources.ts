import { type ArtifactStore } from '../artifacts/artifact-store';
import { SNIFF_BYTES, sniffMedia } from '../artifacts/media-type';
import { artifactUri, type ArtifactRef } from '../domain/media';
import { LeastRecent } from './least-recent';
import { type SourceLookup } from './sources';

/** Sources that are remembered: rows of a campaign share theirs. */
const KEPT = 10_000;

/**
 * Looks sources up once each. Of an artifact the media type is what its bytes say.
 * @param file a file beside the manifest, stored; undefined when there is none to read
 */
export function createSourceLookup(
  store: Pick<ArtifactStore, 'read' | 'has'>,
  file: (path: string) => Promise<ArtifactRef | undefined>,
): SourceLookup {
  const artifacts = new LeastRecent<ArtifactRef | undefined>(KEPT, () => 1);
  const files = new LeastRecent<ArtifactRef | undefined>(KEPT, () => 1);
  return {
    artifact: (sha256) => artifacts.get(sha256, () => describe(store, sha256)),
    file: (path) => files.get(path, () => file(path)),
  };
}

async function describe(
  store: Pick<ArtifactStore, 'read' | 'has'>,
  sha256: string,
): Promise<ArtifactRef | undefined> {
  const bytes = await store.has(sha256);
  if (bytes === null) return undefined;
  const stream = await store.read({ sha256 });
  const head: Buffer[] = [];
  try {
    let length = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      head.push(chunk);
      length += chunk.length;
      if (length >= SNIFF_BYTES) break;
    }
  } finally {
    stream.destroy();
  }
  const media = sniffMedia(Buffer.concat(head).subarray(0, SNIFF_BYTES));
  return {
    uri: artifactUri(sha256),
    mediaType: media?.mediaType ?? 'application/octet-stream',
    bytes,
    sha256,
  };
}
