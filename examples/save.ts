// From an outcome to a file. Results are in the worker's artifact store (MEDIA_ARTIFACTS), named by their content.
import { type ArtifactRef } from 'temporal-media';
import { FileArtifactStore } from 'temporal-media/activities';

export async function save(artifact: ArtifactRef, storeFolder: string, file: string) {
  // Complete or absent, verified against its SHA-256; another file of that name is never overwritten.
  return new FileArtifactStore(storeFolder).fetchTo(artifact, file);
}
