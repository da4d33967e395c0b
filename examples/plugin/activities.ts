// activities.ts: yours. Results are in the media workers' artifact store, a folder or a bucket, named by their content.
import { type ArtifactRef } from 'temporal-media';
import { type ArtifactStore } from 'temporal-media/stores';

export type FilmActivities = ReturnType<typeof filmActivities>;

export const filmActivities = (store: ArtifactStore) => ({
  async publish(film: ArtifactRef) {
    return store.localPath(film); // for ffmpeg and the like: complete, verified, on whichever host this runs
  },
});
