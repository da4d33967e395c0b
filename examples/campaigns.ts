// A campaign started by your own workflow. Its worker needs no key: the campaign runs on the media workers.
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
  sleep,
} from '@temporalio/workflow';
import { type ArtifactRef, type CampaignInput, type CampaignResult, type Money } from 'temporal-media';
import { runCampaign } from 'temporal-media/workflows';
import { type CampaignActivities } from './campaign-activities';

const { earlierResults, publishFilms } = proxyActivities<CampaignActivities>({
  startToCloseTimeout: '10 minutes',
});

export interface NightlyFilms {
  /** Names the campaign, such as a date. Repeating a night buys nothing twice. */
  readonly night: string;
  readonly manifest: ArtifactRef;
  readonly budget: Money;
  /** Task queue of the media workers (MEDIA_TASK_QUEUE). */
  readonly mediaQueue: string;
}

export interface FilmedNight {
  readonly outcome: CampaignResult['outcome'];
  /** `KEY ADDRESS` of each row that has a film. */
  readonly published: readonly string[];
  /** Rows without a film: refused, failed, cancelled, or skipped because the budget is spent. */
  readonly missing: number;
  /** Micro-units of the budget that are neither spent nor reserved. */
  readonly left: number;
}

/** Buys the films of a night and publishes those that completed. */
export async function nightlyFilms(input: NightlyFilms): Promise<FilmedNight> {
  const { manifest, budget } = input;
  const campaign = { manifest: { source: { artifact: manifest } }, budget, concurrency: 200 };
  const result = await campaignOf(`nightly/${input.night}`, campaign, input.mediaQueue);
  // The manifest, a model or the budget cannot be used. Nothing was sent, and a retry would fail the same way.
  if (result.outcome === 'refused')
    throw ApplicationFailure.nonRetryable(result.plan.refused?.message ?? '', 'CampaignRefused');
  const { completed = 0 } = result.counts;
  const rows = Object.values(result.counts).reduce((sum, count) => sum + count, 0);
  const { settled, reserved, needsReview } = result.money;
  return {
    outcome: result.outcome,
    // Rows are in artifacts, not in this history: the activity gets their place.
    published: await publishFilms(result.results),
    missing: rows - completed,
    left: budget.microUnits - settled - reserved - needsReview,
  };
}

/** Runs a campaign under an id that may have been used before. If it is in use now, waits until it is free. */
async function campaignOf(id: string, input: CampaignInput, taskQueue: string): Promise<CampaignResult> {
  for (let seconds = 5; ; seconds = Math.min(2 * seconds, 600)) {
    // Without them totals, budget and report would start over; nothing would be bought twice.
    const previous = await earlierResults(id);
    try {
      return await executeChild(runCampaign, {
        workflowId: id,
        taskQueue,
        // The campaign keeps running if this workflow ends. Without this line it is terminated together with it.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        args: [previous === null ? input : { ...input, previous }],
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Already running: started by this workflow before its reset, or by a person. Then run the remaining rows.
      await sleep(seconds * 1000);
    }
  }
}
