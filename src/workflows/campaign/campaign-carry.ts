import { type CampaignCarried } from '../../domain/campaign/campaign-carried';
import { type Campaign } from './campaign';

/** Everything that the next run of a campaign needs of this one. */
export function campaignCarried(campaign: Campaign, ordersN: number): CampaignCarried {
  const { startedAt, plan, results, remaining, before, lanes, concurrency, budget } = campaign;
  const { paused, stop, wishes, firstGeneration, notes } = campaign;
  return {
    v: 1,
    startedAt,
    plan,
    results,
    remaining,
    before,
    book: campaign.book.save(),
    lanes,
    concurrency,
    budget,
    paused,
    stop,
    wishes,
    ...campaign.doubles.save(),
    firstGeneration,
    rate: campaign.rate.save(),
    notes,
    ordersN,
  };
}
