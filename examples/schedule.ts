// The same manifest every night by a Temporal Schedule: no workflow and no worker of your own.
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
    // A night is skipped while the previous one still runs.
    policies: { overlap: ScheduleOverlapPolicy.SKIP },
    // The server adds the time to the id, `nightly-films-2026-11-23T02:00:00Z`: each night is a new campaign that buys every row.
    action: { type: 'startWorkflow', workflowType: 'runCampaign', workflowId: id, taskQueue, args: [input] },
  });
}
