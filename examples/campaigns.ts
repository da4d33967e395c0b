// Starts a campaign from your own workflow. Your worker needs no API key: the campaign runs on the media workers.
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
  /** Names the campaign, for example with a date. Running the same night again buys nothing twice. */
  readonly night: string;
  readonly manifest: ArtifactRef;
  readonly budget: Money;
  /** The media workers' task queue (MEDIA_TASK_QUEUE). */
  readonly mediaQueue: string;
}

export interface FilmedNight {
  readonly outcome: CampaignResult['outcome'];
  /** `KEY URI` for each row that has a film. */
  readonly published: readonly string[];
  /** Rows without a film: refused, failed, canceled, or skipped because the budget was spent. */
  readonly missing: number;
  /** Remaining budget in micro-units, neither spent nor reserved. */
  readonly left: number;
}

/** Buys one night's films and publishes the completed ones. */
export async function nightlyFilms(input: NightlyFilms): Promise<FilmedNight> {
  const { manifest, budget } = input;
  const campaign = { manifest: { source: { artifact: manifest } }, budget, concurrency: 200 };
  const result = await campaignOf(`nightly/${input.night}`, campaign, input.mediaQueue);
  // The manifest, a model or the budget was rejected. Nothing was sent, and a retry would fail the same way.
  if (result.outcome === 'refused')
    throw ApplicationFailure.nonRetryable(result.plan.refused?.message ?? '', 'CampaignRefused');
  const { completed = 0 } = result.counts;
  const rows = Object.values(result.counts).reduce((sum, count) => sum + count, 0);
  const { settled, estimated, reserved, needsReview } = result.money;
  return {
    outcome: result.outcome,
    // The rows are in artifacts, not in this history, so the activity gets a reference to them.
    published: await publishFilms(result.results),
    missing: rows - completed,
    left: budget.microUnits - settled - estimated - reserved - needsReview,
  };
}

/** Runs a campaign under an id that may have been used before. If one is running under this id, waits for it to end. */
async function campaignOf(id: string, input: CampaignInput, taskQueue: string): Promise<CampaignResult> {
  for (let seconds = 5; ; seconds = Math.min(2 * seconds, 600)) {
    // Without these, totals, budget and report would start over. Even then, nothing would be bought twice.
    const previous = await earlierResults(id);
    try {
      return await executeChild(runCampaign, {
        workflowId: id,
        taskQueue,
        // Keeps the campaign running if this workflow ends. Without this line, Temporal would terminate it.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        args: [previous === null ? input : { ...input, previous }],
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // Already running: this workflow started it before a reset, or a person did. Wait, then run the remaining rows.
      await sleep(seconds * 1000);
    }
  }
}
