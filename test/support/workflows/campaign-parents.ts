// Callers that run a campaign as a child and leave everything else as it is.
import { executeChild } from '@temporalio/workflow';
import { type CampaignResult } from '../../../src/domain/campaign/campaign-state';
import { type CampaignInput } from '../../../src/domain/campaign/plan';
import { runCampaign } from '../../../src/workflows';

export async function plainParent(
  workflowId: string,
  taskQueue: string,
  input: CampaignInput,
): Promise<CampaignResult> {
  return executeChild(runCampaign, { workflowId, taskQueue, args: [input] });
}
