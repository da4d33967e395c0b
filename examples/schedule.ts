// Runs the same manifest every night with a Temporal Schedule, without a workflow or worker of your own.
import { type Client, ScheduleOverlapPolicy } from '@temporalio/client';
import { type ArtifactRef, type CampaignInput } from 'temporal-media';

export async function filmEveryNight(
  client: Client,
  manifest: ArtifactRef,
  { id = 'nightly-films', taskQueue = 'temporal-media' } = {},
) {
  const input: CampaignInput = {
    manifest: { source: { artifact: manifest } },
    budget: { microUnits: 20_000_000, currency: 'USD' },
  };
  return client.schedule.create({
    scheduleId: id,
    spec: { calendars: [{ hour: 2 }] },
    // Skips a night if the previous campaign is still running.
    policies: { overlap: ScheduleOverlapPolicy.SKIP },
    // The server appends the time to the id, as in `nightly-films-2026-11-23T02:00:00Z`, so each night buys every row.
    action: { type: 'startWorkflow', workflowType: 'runCampaign', workflowId: id, taskQueue, args: [input] },
  });
}
