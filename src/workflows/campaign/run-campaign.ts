import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  makeContinueAsNewFunc,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { type BatchReport, batchReportCheck } from '../../domain/campaign/batch-messages';
import { batchWorkflowId } from '../../domain/campaign/budget-book';
import {
  type BudgetState,
  type CampaignResult,
  type CampaignState,
  SHOWN_ROWS,
} from '../../domain/campaign/campaign-state';
import {
  CAMPAIGN_SHAPE,
  type CampaignInput,
  type CampaignPlan,
  type RowSelection,
} from '../../domain/campaign/plan';
import { type MoneyTotals } from '../../domain/campaign/results';
import { sizeOf } from '../../domain/campaign/row-sets';
import { given } from '../../domain/json';
import { formatMoney } from '../../domain/money';
import { ACTIVITY, QUERY, ROWS_WAIT, SIGNAL } from '../../domain/names';
import { type CallWait } from '../../domain/video-state';
import {
  fits,
  type OnProgress,
  onQuery,
  onSignal,
  reportProgress,
  requireInput,
  waitsQuery,
} from '../handlers';
import { activity } from '../proxies';
import { PINNED, recordFacts } from '../workflow-metadata';
import { Campaign } from './campaign';
import { acceptUpdates } from './campaign-updates';

const SPENT = 'The budget is spent. Rows that were not bought are skipped.';

function campaignState(campaign: Campaign, phase: CampaignState['phase']): CampaignState {
  const { plan, window, concurrency, paused } = campaign;
  const now = Date.now();
  const results = campaign.allResults();
  const remaining = campaign.remaining();
  const perMinute = phase === 'running' ? campaign.rate.perMinute(now, campaign.ended()) : null;
  const id = workflowInfo().workflowId;
  const batches = window.all();
  const budget = budgetState(campaign, results.money);
  return {
    campaign: id,
    phase,
    startedAt: iso(campaign.startedAt),
    plan,
    counts: results.counts,
    remaining,
    inFlight: batches.reduce((sum, { report }) => sum + (report?.inFlight ?? 0), 0),
    concurrency,
    priority: campaign.priority ?? null,
    currency: results.currency,
    money: results.money,
    budget,
    rowsPerMinute: perMinute === null ? null : Math.round(perMinute * 10) / 10,
    etaAt: perMinute === null || paused ? null : iso(now + (remaining / perMinute) * 60_000),
    active: batches.flatMap(({ report }) => report?.sample ?? []).slice(0, SHOWN_ROWS),
    batches: batches.map(({ batch, size, report, reportedAt }) => ({
      batch,
      workflowId: batchWorkflowId(id, batch),
      rows: size,
      ended: sizeOf(report?.ended ?? []),
      inFlight: report?.inFlight ?? 0,
      lastReportAt: report === null ? null : iso(reportedAt),
    })),
    results,
    notes: [
      ...campaign.notes,
      ...(campaign.stop === 'budget' ? [SPENT] : []),
      ...(budget !== null && budget.over > 0 ? [overText(budget)] : []),
      ...campaignWaits(campaign).map(({ why }) => `${ROWS_WAIT}${why}`),
    ],
  };
}

function overText({ over, total: { currency } }: BudgetState): string {
  const amount = formatMoney({ microUnits: over, currency });
  return `The bills are higher than the estimates: the campaign has cost ${amount} more than its budget. Nothing more is bought.`;
}

/** Returns the reasons why rows are not being sent, each listed once. Answers the `waits` query. */
function campaignWaits({ window, books }: Campaign): readonly CallWait[] {
  const waits = [books.held, ...window.all().map(({ report }) => report?.held ?? null)];
  return [...new Map(waits.flatMap((held) => (held === null ? [] : [[held.why, held] as const]))).values()];
}

/**
 * Splits a budget into its four parts. Costs that are not in the results yet count as reserved, and so do grants to
 * batches that have not reported.
 */
function budgetState({ budget, books, window }: Campaign, money: MoneyTotals): BudgetState | null {
  if (budget === null) return null;
  const total = budget.microUnits;
  const { closed, billed, open } = books.entry();
  const reported = new Map(window.all().map(({ batch, report }) => [batch, report?.taken]));
  const taken = open.reduce(
    (sum, [batch, granted]) => sum + (reported.get(batch) ?? granted ?? 0),
    closed + billed,
  );
  const spent = money.settled + money.estimated;
  const review = money.needsReview;
  const over = Math.max(books.over(), spent + review - total);
  const reserved = Math.max(money.reserved, taken - spent - review);
  const atMost = Math.max(0, Math.min(reserved, total + over - spent - review));
  const free = total + over - spent - review - atMost;
  return { total: budget, spent, reserved: atMost, review, free, over };
}

const iso = (time: number) => new Date(time).toISOString();

/** The `campaign_state` query: a campaign's counts, its budget, and its rows in progress. */
export const campaignStateQuery = defineQuery<CampaignState>(QUERY.campaignState);
const PLAN_FAILED = 'The manifest could not be planned: no worker could read it in time.';

const campaignReportSignal = defineSignal<[BatchReport]>(SIGNAL.campaignReport);

/**
 * Buys each row of a manifest once, waits for all of them and stores the results. The workflow ID is the campaign's ID
 * and part of every creation key, so the same ID never buys a row twice. Unless it is closed externally, the workflow
 * returns a value, except if its input is invalid or its first plan fails.
 * @param onProgress set by `withProgress`; never part of a start
 */
export async function runCampaign(
  input: CampaignInput,
  onProgress?: OnProgress<CampaignState>,
): Promise<CampaignResult> {
  requireInput(input, CAMPAIGN_SHAPE);
  const campaign = new Campaign(input);
  let phase: CampaignState['phase'] = campaign.plan === null ? 'planning' : 'running';
  const state = () => campaignState(campaign, shown(campaign, phase));
  const report = reportProgress(onProgress, progressFacts);
  campaign.onTurn = () => report(state);
  onSignal(campaignReportSignal, fits(batchReportCheck), (news) => campaign.onReport(news));
  onQuery(campaignStateQuery, state);
  onQuery(waitsQuery, () => campaignWaits(campaign));
  acceptUpdates(campaign);
  const root = CancellationScope.current();
  if (root.consideredCancelled) campaign.cancel();
  void root.cancelRequested.catch(() => campaign.cancel());
  report(state);
  // Even after a cancellation, results that were already bought are collected.
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
      // An Update may have added a selection in the meantime.
      if (campaign.selections.length > 0 || campaign.plan === null) continue;
      report(state);
      return end(campaign, campaign.stop === 'cancel' ? 'cancelled' : 'completed', campaign.plan);
    }
  });
}

/** What a hook is called for: everything but rates, estimates and the times of reports. */
function progressFacts(state: CampaignState): unknown {
  const { phase, counts, remaining, inFlight, concurrency, budget, notes } = state;
  return [phase, counts, remaining, inFlight, concurrency, budget, notes];
}

function end(campaign: Campaign, outcome: CampaignResult['outcome'], plan: CampaignPlan): CampaignResult {
  recordFacts({ outcome });
  const { results, startedAt } = campaign;
  const { counts, currency, money } = results;
  return {
    v: 1,
    outcome,
    campaign: workflowInfo().workflowId,
    plan,
    counts,
    currency,
    money,
    budget: budgetState(campaign, money),
    results,
    startedAt: iso(startedAt),
    finishedAt: iso(Date.now()),
  };
}

/** Makes a plan while the batches keep running, because reading a large manifest takes a minute. */
async function planConcurrently(campaign: Campaign, select: RowSelection): Promise<void> {
  campaign.planning = true;
  const plan = await makePlan(campaign, select);
  campaign.planning = false;
  // If the plan failed or was refused, only add a note. The campaign continues.
  if (plan === null || plan.refused !== undefined) campaign.notes.push(plan?.refused?.message ?? PLAN_FAILED);
  else campaign.addPlan(plan, select);
  campaign.wake();
}

/** Returns null if no worker could make the plan. */
async function makePlan(campaign: Campaign, select: RowSelection): Promise<CampaignPlan | null> {
  const { input } = campaign;
  const results = campaign.allResults();
  const { manifest, account, labels, limit, sample, rebuyChanged } = input;
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
      ...given({ account, labels, ...(first && { limit, sample }) }),
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
  // A server before 1.31 ignores the option, and the campaign stays on its version.
  const next = makeContinueAsNewFunc<typeof runCampaign>({ initialVersioningBehavior: 'AUTO_UPGRADE' });
  return next({ ...campaign.input, carried: campaign.carry() });
}

setWorkflowOptions(PINNED, runCampaign);
