import { type CampaignPlan, type PlanRefusal } from '../domain/campaign/plan';
import { NO_MONEY } from '../domain/campaign/results';
import { emptyIndex, type PlanSink } from './page-writer';

/** A plan of which nothing comes, because the manifest could not be read to its end. */
export async function refusedPlan(
  { generation }: Pick<CampaignPlan, 'generation'>,
  manifest: string | undefined,
  sink: PlanSink,
  refused: PlanRefusal,
  issues: CampaignPlan['issues'] = [],
): Promise<CampaignPlan> {
  return {
    v: 1,
    generation,
    manifest: manifest ?? '',
    rows: 0,
    planned: 0,
    done: 0,
    left: 0,
    invalid: 0,
    issues,
    issuesFile: null,
    changed: { rows: 0, keys: [] },
    pages: 0,
    index: await emptyIndex(sink),
    currency: null,
    estimate: 0,
    unpriced: 0,
    begun: { rows: 0, estimate: 0, unpriced: 0 },
    booked: NO_MONEY,
    models: [],
    refused,
  };
}
