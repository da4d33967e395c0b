// activities.ts: yours. A result is in the artifact store of the media workers, a folder or a bucket, named by its content.
import { type ArtifactRef } from 'temporal-media';
import { type ArtifactStore } from 'temporal-media/stores';

export type FilmActivities = ReturnType<typeof filmActivities>;

export const filmActivities = (store: ArtifactStore) => ({
  async publish(film: ArtifactRef) {
    return store.localPath(film); // for ffmpeg and the like: complete, verified, on whichever host this runs
  },
});
