// activities.ts: your code. Results are in the media workers' artifact store, a folder or a bucket, named by hash.
import { type ArtifactRef } from 'temporal-media';
import { type ArtifactStore } from 'temporal-media/stores';

export type FilmActivities = ReturnType<typeof filmActivities>;

export const filmActivities = (store: ArtifactStore) => ({
  async publish(film: ArtifactRef) {
    return store.localPath(film); // a complete, verified file on this host, for tools such as ffmpeg
  },
});
