// Exports your workflows and this package's. Your worker bundles this file.
export * from 'temporal-media/workflows';
import { workflowInfo } from '@temporalio/workflow';
import { type ArtifactRef, type VideoOutcome } from 'temporal-media';
import { executeVideo, mediaActivities } from 'temporal-media/workflows';

export interface ProductFilm {
  readonly poster: ArtifactRef | null;
  readonly film: VideoOutcome;
}

/** Buys a poster, then a film that begins with it. A reset or a retry of this workflow buys neither twice. */
export async function productFilm(input: { product: string; waitFor?: string }): Promise<ProductFilm> {
  // The media workers' task queue (MEDIA_TASK_QUEUE), because this workflow runs on those workers.
  const { taskQueue } = workflowInfo();
  const images = mediaActivities({ taskQueue });
  const image = await images.generateImage({
    model: 'image-2',
    prompt: `${input.product} on a white table, studio light`,
    size: '1024x1024',
  });
  const poster = image.outcome === 'completed' ? (image.images[0] ?? null) : null;

  const film = await executeVideo(
    {
      request: {
        model: 'motion-omni',
        prompt: `${input.product} turns slowly, soft shadows`,
        durationSeconds: 5,
        ...(poster === null ? {} : { references: [{ kind: 'image', source: { artifact: poster } }] }),
      },
      waitFor: input.waitFor ?? '15 minutes',
    },
    { taskQueue },
  );
  return { poster, film };
}
