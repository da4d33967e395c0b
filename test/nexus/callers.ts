import { createNexusServiceClient } from '@temporalio/workflow';
import { mediaService } from '../../src/nexus';
import { type MediaCampaignInput } from '../../src/nexus';

export { releaseTrailer } from '../../examples/nexus-caller';

/** One operation with any input, as a caller without types may send it. */
export async function callMedia(endpoint: string, operation: string, input: unknown): Promise<unknown> {
  const media = createNexusServiceClient({ service: mediaService, endpoint });
  return media.executeOperation(operation as 'campaign', input as MediaCampaignInput, {
    scheduleToCloseTimeout: '2 minutes',
  });
}
