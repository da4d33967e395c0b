// Extracts a film's first frame with FFmpeg (npm install @ffmpeg.wasm/main @ffmpeg.wasm/core-st) in an activity.
import { readFile } from 'node:fs/promises';
import { FFmpeg } from '@ffmpeg.wasm/main';
import { type ArtifactRef } from 'temporal-media';
import { type ArtifactStore, openArtifactStore } from 'temporal-media/stores';
import { createMediaWorker } from 'temporal-media/worker';

export type ThumbnailActivities = ReturnType<typeof thumbnailActivities>;

export const thumbnailActivities = (store: ArtifactStore) => ({
  async thumbnail(film: ArtifactRef, width: number): Promise<ArtifactRef> {
    const ffmpeg = await FFmpeg.create({ core: '@ffmpeg.wasm/core-st' });
    ffmpeg.fs.writeFile('film.mp4', await readFile(await store.localPath(film)));
    const scale = `scale=${width}:-2`;
    const code = await ffmpeg.run('-i', 'film.mp4', '-frames:v', '1', '-vf', scale, 'thumbnail.png');
    if (code !== 0) throw new Error(`ffmpeg failed with exit code ${code}`);
    const picture = Buffer.from(ffmpeg.fs.readFile('thumbnail.png'));
    return store.putBuffer(picture, { mediaType: 'image/png' });
  },
});

export async function thumbnailWorker(env: NodeJS.ProcessEnv = process.env) {
  return createMediaWorker({
    env,
    activities: thumbnailActivities(await openArtifactStore(env)),
    workflows: { workflowsPath: require.resolve('./thumbnail-workflows') },
  });
}
