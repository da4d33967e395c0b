import { type ArtifactStoreFacts } from '../domain/activities';
import { artifactStoreActivity } from './proxies';

/** Which artifact store the workers of this queue have: a client asks before it starts what it could not save. */
export async function artifactStore(): Promise<ArtifactStoreFacts> {
  return artifactStoreActivity({ summary: 'name the artifact store' })();
}
