import { workflowInfo } from '@temporalio/workflow';
import { type CallWait } from '../../domain/call-wait';
import { type CampaignPlan } from '../../domain/campaign/plan';
import {
  type CampaignResult,
  type CampaignState,
  laneWorkflowId,
  SHOWN_ROWS,
} from '../../domain/campaign/state';
import { type Campaign } from './campaign';
import { grantContext } from './grant-context';

/** Answer of the query `campaign_state`. */
export function campaignState(campaign: Campaign, phase: CampaignState['phase']): CampaignState {
  const { results, plan, lanes, remaining, concurrency, paused } = campaign;
  const now = Date.now();
  const perMinute = phase === 'running' ? campaign.rate.perMinute(now, campaign.ended()) : null;
  const id = workflowInfo().workflowId;
  return {
    campaign: id,
    phase,
    startedAt: iso(campaign.startedAt),
    plan,
    counts: results.counts,
    remaining,
    inFlight: lanes.reduce((sum, { inFlight }) => sum + inFlight, 0),
    concurrency,
    currency: results.currency,
    money: results.money,
    budget: budgetOf(campaign),
    rowsPerMinute: perMinute === null ? null : Math.round(perMinute * 10) / 10,
    etaAt: perMinute === null || paused ? null : iso(now + (remaining / perMinute) * 60_000),
    active: lanes.flatMap(({ sample }) => sample).slice(0, SHOWN_ROWS),
    lanes: lanes.map(({ lane, inFlight, lastReportAt, reportN }) => ({
      lane,
      workflowId: laneWorkflowId(id, lane),
      pages: campaign.book.of(lane).length,
      inFlight,
      lastReportAt: reportN === 0 ? null : iso(lastReportAt),
    })),
    results: mayBeDoubled(campaign) ? { ...results, doubled: true } : results,
    notes: [
      ...campaign.notes,
      ...campaign.purchases.notes(),
      ...campaignWaits(campaign).map(({ why }) => `Rows wait: ${why}`),
    ],
  };
}

/** Why rows are not sent, each reason once. Answer of the query `waits`. */
export function campaignWaits({ lanes }: Pick<Campaign, 'lanes'>): readonly CallWait[] {
  return [
    ...new Map(lanes.flatMap(({ held }) => (held === null ? [] : [[held.why, held] as const]))).values(),
  ];
}

function mayBeDoubled({ doubles }: Campaign): boolean {
  return doubles.any || doubles.isCounting;
}

function budgetOf(campaign: Campaign): CampaignState['budget'] {
  const context = grantContext(campaign);
  if (context === null || campaign.budget === null) return null;
  const granted = campaign.lanes.reduce((sum, lane) => sum + (lane.granted ?? 0), 0);
  const taken = campaign.lanes.reduce((sum, lane) => sum + lane.committed, context.before);
  return { total: campaign.budget, granted, taken, left: campaign.budget.microUnits - taken };
}

const iso = (time: number) => new Date(time).toISOString();

/** What the campaign came to. */
export function campaignResult(
  { results, startedAt, budget }: Campaign,
  outcome: CampaignResult['outcome'],
  plan: CampaignPlan,
): CampaignResult {
  const { counts, currency, money } = results;
  return {
    v: 1,
    outcome,
    campaign: workflowInfo().workflowId,
    plan,
    counts,
    currency,
    money,
    budget,
    results,
    startedAt: iso(startedAt),
    finishedAt: iso(Date.now()),
  };
}
