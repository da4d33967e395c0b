import { type ArtifactStoreFacts } from '../domain/activities';
import { artifactStoreActivity } from './proxies';

/** The artifact store of this queue's workers; a client checks it before it starts what it could not save. */
export async function artifactStore(): Promise<ArtifactStoreFacts> {
  return artifactStoreActivity({ summary: 'name the artifact store' })();
}
