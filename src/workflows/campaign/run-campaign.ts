import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { ACTIVITY, QUERY, SIGNAL } from '../../domain/names';
import { type BatchReport, batchReportCheck } from '../../domain/campaign/messages';
import {
  CAMPAIGN_SHAPE,
  type CampaignInput,
  type CampaignPlan,
  type RowSelection,
} from '../../domain/campaign/plan';
import { type CampaignResult, type CampaignState } from '../../domain/campaign/campaign-state';
import { fits, onQuery, onSignal } from '../handlers';
import { requireInput } from '../inputs';
import { activity } from '../proxies';
import { recordFacts } from '../search-attributes';
import { AUTO_UPGRADE } from '../versioning-behavior';
import { waitsQuery } from '../waits-query';
import { Campaign } from './campaign';
import { acceptUpdates } from './campaign-updates';
import { campaignResult, campaignState, campaignWaits } from './campaign-view';

/** The query `campaign_state`: counts, budget, and rows in work of a campaign. */
export const campaignStateQuery = defineQuery<CampaignState>(QUERY.campaignState);
const PLAN_FAILED = 'The manifest could not be planned: no worker could read it in time.';

export const campaignReportSignal = defineSignal<[BatchReport]>(SIGNAL.campaignReport);

/**
 * Buys every row of a manifest once, waits for all of them and keeps the results. The workflow id is the id of the
 * campaign and part of every creation key: the same id never buys a row twice. It returns a value when it ends by
 * itself, unless its input is invalid or its first plan fails.
 */
export async function runCampaign(input: CampaignInput): Promise<CampaignResult> {
  requireInput(input, CAMPAIGN_SHAPE);
  const campaign = new Campaign(input);
  let phase: CampaignState['phase'] = campaign.plan === null ? 'planning' : 'running';
  onSignal(campaignReportSignal, fits(batchReportCheck), (report) => campaign.onReport(report));
  onQuery(campaignStateQuery, () => campaignState(campaign, shown(campaign, phase)));
  onQuery(waitsQuery, () => campaignWaits(campaign));
  acceptUpdates(campaign);
  const root = CancellationScope.current();
  if (root.consideredCancelled) campaign.cancel();
  void root.cancelRequested.catch(() => campaign.cancel());
  // A cancellation does not stop the collection of what is bought.
  return CancellationScope.nonCancellable(async () => {
    for (;;) {
      const selection = campaign.isNextSelectionFree() ? campaign.selections.shift() : undefined;
      if (selection !== undefined) {
        if (campaign.plan === null) {
          const plan = await makePlan(campaign, selection);
          if (plan === null) throw ApplicationFailure.nonRetryable(PLAN_FAILED, 'PlanFailed');
          if (plan.refused !== undefined) return end(campaign, 'refused', plan);
          campaign.addPlan(plan, selection);
        } else void planConcurrently(campaign, selection);
        phase = 'running';
        continue;
      }
      const next = await campaign.run();
      if (next === 'handover') await goOn(campaign);
      if (next !== 'done') continue;
      phase = 'done';
      await campaign.finish();
      await condition(allHandlersFinished);
      // An Update may have added a selection meanwhile.
      if (campaign.selections.length === 0 && campaign.plan !== null)
        return end(campaign, campaign.stop === 'cancel' ? 'cancelled' : 'completed', campaign.plan);
    }
  });
}

function end(campaign: Campaign, outcome: CampaignResult['outcome'], plan: CampaignPlan): CampaignResult {
  recordFacts({ outcome });
  return campaignResult(campaign, outcome, plan);
}

/** Plans beside the running batches, which go on meanwhile: a large manifest takes a minute to read. */
async function planConcurrently(campaign: Campaign, select: RowSelection): Promise<void> {
  campaign.planning = true;
  const plan = await makePlan(campaign, select);
  campaign.planning = false;
  takePlan(campaign, plan, select);
  campaign.wake();
}

/** A plan that failed or was refused becomes a note; the campaign continues. */
function takePlan(campaign: Campaign, plan: CampaignPlan | null, select: RowSelection): void {
  if (plan === null || plan.refused !== undefined) campaign.notes.push(plan?.refused?.message ?? PLAN_FAILED);
  else campaign.addPlan(plan, select);
}

/** Null when no worker could make it. */
async function makePlan(campaign: Campaign, select: RowSelection): Promise<CampaignPlan | null> {
  const { input } = campaign;
  const results = campaign.allResults();
  const { manifest, account, limit, sample, rebuyChanged } = input;
  const first = campaign.plan === null;
  const plan = activity(ACTIVITY.planCampaign, { summary: 'read the manifest' });
  try {
    return await plan({
      campaign: workflowInfo().workflowId,
      manifest,
      select,
      onInvalid: input.onInvalid ?? 'fail',
      rebuyChanged: rebuyChanged === true,
      generation: results.generation + 1,
      ...(account !== undefined && { account }),
      ...(first && limit !== undefined && { limit }),
      ...(first && sample !== undefined && { sample }),
      ...(results.generation >= 0 && { previous: results }),
      ...(campaign.budget !== null && { budget: campaign.budget }),
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return null;
  }
}

function shown(campaign: Campaign, phase: CampaignState['phase']): CampaignState['phase'] {
  if (phase !== 'running') return phase;
  if (campaign.stop !== null) return 'stopping';
  return campaign.paused ? 'paused' : 'running';
}

async function goOn(campaign: Campaign): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew<typeof runCampaign>({ ...campaign.input, carried: campaign.carry() });
}

setWorkflowOptions(AUTO_UPGRADE, runCampaign);
