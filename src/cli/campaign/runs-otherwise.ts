import { type CampaignStart } from '../../client';
import { type CampaignState } from '../../domain/campaign/campaign-state';
import { formatMoney } from '../../domain/price';

/** How a running campaign differs from the settings given here; undefined when it does not. */
export function runsOtherwise(
  { budget, concurrency }: Pick<CampaignState, 'budget' | 'concurrency'>,
  asked: Pick<CampaignStart, 'budget' | 'concurrency'>,
): string | undefined {
  const differing: string[] = [];
  if (asked.budget !== undefined) {
    const wanted = formatMoney(asked.budget);
    const had = budget === null ? undefined : formatMoney(budget.total);
    if (had === undefined) differing.push(`It has no budget, and is not kept within ${wanted}`);
    else if (had !== wanted) differing.push(`Its budget is ${had} and not ${wanted}`);
  }
  if (asked.concurrency !== undefined && asked.concurrency !== concurrency)
    differing.push(`Its concurrency is ${concurrency} and not ${asked.concurrency}`);
  return differing.length === 0 ? undefined : `${differing.join('. ')}.`;
}
