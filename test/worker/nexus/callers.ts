import { createNexusServiceClient } from '@temporalio/workflow';
import { type MediaCampaignInput, mediaService } from '../../../src/nexus';

export { releaseTrailer } from '../../../examples/nexus-caller';

/** One operation with any input, as a caller without types may send it. */
export async function callMedia(
  endpoint: string,
  operation: string,
  input: unknown,
  scheduleToCloseTimeout: '3 seconds' | '2 minutes' = '2 minutes',
): Promise<unknown> {
  const media = createNexusServiceClient({ service: mediaService, endpoint });
  return media.executeOperation(operation as 'campaign', input as MediaCampaignInput, {
    scheduleToCloseTimeout,
  });
}
