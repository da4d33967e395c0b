// Another team's workflows, in another namespace. They know only the Nexus service `media`, not its workers.
import { createNexusServiceClient, workflowInfo } from '@temporalio/workflow';
import { type VideoOutcome } from 'temporal-media';
import { mediaService } from 'temporal-media/nexus';

/**
 * Buys a trailer for a release. A reset or a retry doesn't buy it twice: its key is derived from the workflow id.
 * @param endpoint the Nexus endpoint that an operator created, see docs/operations.md, "Nexus"
 */
export async function releaseTrailer(release: string, endpoint = 'media'): Promise<VideoOutcome> {
  const media = createNexusServiceClient({ service: mediaService, endpoint });
  const trailer = await media.executeOperation(
    'generateVideo',
    {
      creationKey: `${workflowInfo().workflowId}/trailer`,
      request: { model: 'cine-1', prompt: `a trailer for ${release}`, durationSeconds: 2 },
    },
    // Longer than the wait for the video. Temporal cancels an operation that times out, but the video continues.
    { scheduleToCloseTimeout: '1 hour' },
  );
  if (trailer.outcome !== 'still_running') return trailer;
  return media.executeOperation(
    'awaitVideo',
    { video: trailer.video, waitFor: '12 hours' },
    { scheduleToCloseTimeout: '13 hours' },
  );
}
