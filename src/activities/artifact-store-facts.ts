import { type ArtifactStore } from '../artifacts/artifact-store';
import { type ArtifactStoreFacts } from '../domain/activities';

/** The name of this worker's store, for a client that reads its results there. */
export function createArtifactStoreFacts(store: ArtifactStore): () => Promise<ArtifactStoreFacts> {
  return async () => ({ storeId: (await store.identity?.()) ?? null });
}
