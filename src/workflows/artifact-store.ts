import { type ArtifactStoreFacts } from '../domain/activities';
import { ACTIVITY } from '../domain/names';
import { activity } from './proxies';

/** The artifact store of this queue's workers; a client checks it before it starts what it could not save. */
export async function artifactStore(): Promise<ArtifactStoreFacts> {
  return activity(ACTIVITY.artifactStore, { summary: 'name the artifact store' })();
}
