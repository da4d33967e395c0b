import { type CampaignResult, type CampaignState } from '../domain/campaign/state';
import { type ReportFacts } from './report-options';

/** Facts of a campaign that answers the query `campaign_state`. @param asOf ISO 8601 time of the answer */
export function factsOfState(state: CampaignState, asOf: string): ReportFacts {
  const { campaign, phase, startedAt, counts, remaining, currency, money, budget, plan, notes } = state;
  return {
    campaign,
    state: phase === 'done' ? 'done' : 'running',
    asOf,
    startedAt,
    finishedAt: null,
    counts,
    remaining,
    currency,
    money,
    budget: budget?.total ?? null,
    plan,
    notes,
  };
}

/** Facts of a campaign that has ended. */
export function factsOfResult(result: CampaignResult): ReportFacts {
  const { campaign, startedAt, finishedAt, counts, currency, money, plan } = result;
  return {
    campaign,
    state: 'done',
    asOf: finishedAt,
    startedAt,
    finishedAt,
    counts,
    remaining: null,
    currency,
    money,
    budget: null,
    plan,
    notes: plan.refused === undefined ? [] : [plan.refused.message],
  };
}

/** Whether `a` tells of the same or a later state than `b`. */
export function isNewer(
  a: { readonly generation: number; readonly facts: ReportFacts },
  b: { readonly generation: number; readonly facts: ReportFacts } | null,
): boolean {
  if (b === null) return true;
  if (a.generation !== b.generation) return a.generation > b.generation;
  return Date.parse(a.facts.asOf) >= Date.parse(b.facts.asOf);
}
