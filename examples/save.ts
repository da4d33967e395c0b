// Saves a result as a file. Results are in the worker's artifact store (MEDIA_ARTIFACTS), named by content hash.
import { type ArtifactRef } from 'temporal-media';
import { FileArtifactStore } from 'temporal-media/activities';

export async function save(artifact: ArtifactRef, storeFolder: string, file: string) {
  // Writes all of the file or nothing, verifies its SHA-256, and never overwrites a different file with that name.
  return new FileArtifactStore(storeFolder).fetchTo(artifact, file);
}
