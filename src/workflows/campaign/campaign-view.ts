import { workflowInfo } from '@temporalio/workflow';
import { type CallWait } from '../../domain/call-wait';
import { batchWorkflowId } from '../../domain/campaign/budget-book';
import { type CampaignPlan } from '../../domain/campaign/plan';
import { type MoneyTotals } from '../../domain/campaign/results';
import { sizeOf } from '../../domain/campaign/row-set';
import {
  type BudgetState,
  type CampaignResult,
  type CampaignState,
  ROWS_WAIT,
  SHOWN_ROWS,
} from '../../domain/campaign/campaign-state';
import { type Campaign } from './campaign';

const SPENT = 'The budget is spent: rows that were not bought are skipped.';

/** Answer of the query `campaign_state`. */
export function campaignState(campaign: Campaign, phase: CampaignState['phase']): CampaignState {
  const { plan, window, concurrency, paused } = campaign;
  const now = Date.now();
  const results = campaign.allResults();
  const remaining = campaign.remaining();
  const perMinute = phase === 'running' ? campaign.rate.perMinute(now, campaign.ended()) : null;
  const id = workflowInfo().workflowId;
  const batches = window.all();
  return {
    campaign: id,
    phase,
    startedAt: iso(campaign.startedAt),
    plan,
    counts: results.counts,
    remaining,
    inFlight: batches.reduce((sum, { report }) => sum + (report?.inFlight ?? 0), 0),
    concurrency,
    currency: results.currency,
    money: results.money,
    budget: budgetState(campaign, results.money),
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
      ...campaignWaits(campaign).map(({ why }) => `${ROWS_WAIT}${why}`),
    ],
  };
}

/** Why rows are not sent, each reason once. Answer of the query `waits`. */
export function campaignWaits({ window, books }: Campaign): readonly CallWait[] {
  const waits = [books.held, ...window.all().map(({ report }) => report?.held ?? null)];
  return [...new Map(waits.flatMap((held) => (held === null ? [] : [[held.why, held] as const]))).values()];
}

/** The four parts of a budget. Costs that are not in the results, and grants without a report, are reserved. */
function budgetState({ budget, books, window }: Campaign, money: MoneyTotals): BudgetState | null {
  if (budget === null) return null;
  const total = budget.microUnits;
  const { closed, open } = books.entry();
  const told = new Map(window.all().map(({ batch, report }) => [batch, report?.taken]));
  const taken = open.reduce((sum, [batch, granted]) => sum + (told.get(batch) ?? granted ?? 0), closed);
  const spent = money.settled;
  const review = money.needsReview;
  const reserved = Math.max(money.reserved, taken - spent - review);
  const atMost = Math.max(0, Math.min(reserved, total - spent - review));
  return { total: budget, spent, reserved: atMost, review, free: total - spent - review - atMost };
}

const iso = (time: number) => new Date(time).toISOString();

/** The result of a campaign. */
export function campaignResult(
  campaign: Campaign,
  outcome: CampaignResult['outcome'],
  plan: CampaignPlan,
): CampaignResult {
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
