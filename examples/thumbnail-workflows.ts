// Buys a film in a child workflow, then makes a thumbnail in your own activity.
export * from 'temporal-media/workflows';
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { type ArtifactRef, type VideoOutcome } from 'temporal-media';
import { executeVideo } from 'temporal-media/workflows';
import { type ThumbnailActivities } from './thumbnail-activities';

const { thumbnail } = proxyActivities<ThumbnailActivities>({ startToCloseTimeout: '5 minutes' });

export interface FilmWithThumbnail {
  readonly film: VideoOutcome;
  /** Null if there is no film. */
  readonly thumbnail: ArtifactRef | null;
}

/** Pays for the film once: a failed thumbnail is retried from the stored file. */
export async function filmWithThumbnail(prompt: string): Promise<FilmWithThumbnail> {
  const request = { model: 'cine-1', prompt, durationSeconds: 2 };
  const film = await executeVideo({ request }, { taskQueue: workflowInfo().taskQueue });
  return { film, thumbnail: film.outcome === 'completed' ? await thumbnail(film.artifact, 160) : null };
}
