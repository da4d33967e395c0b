import { type CampaignPlan } from '../../domain/campaign/plan';
import { errorType } from '../exit-codes';
import { refusalType } from './campaign-end';

type RefusedPlan = Pick<CampaignPlan, 'refused' | 'rows' | 'invalid' | 'currency'>;

/** What to do about a refused plan: more specific than the registry, which has one hint for several reasons. */
export function refusalHint({ refused, rows, invalid, currency }: RefusedPlan): string {
  if (refused === undefined) throw new Error('The plan was not refused.');
  switch (refused.reason) {
    case 'invalid_rows':
      if (rows === 0)
        return 'Correct the header: `temporal-media campaign init` writes one to begin with. A file with one prompt in each line is given with --prompts.';
      break;
    case 'no_rows':
      if (invalid > 0) return 'Correct the lines that are named; --dry-run -o jsonl lists all of them.';
      return 'One row below the header, or one JSON line, for each video, image or edit: `temporal-media campaign init` writes a manifest to begin with.';
    case 'budget_currency':
      return `Give the budget in the currency of the prices${currency === null ? '' : `, ${currency}`}.`;
    case 'mixed_currencies':
      return 'Split the manifest: a campaign has one currency. `temporal-media models ls` shows the prices.';
    case 'unpriced_models':
      return 'Add price rules to the model configuration (MEDIA_MODELS), or leave the budget out; `temporal-media models ls` shows the prices.';
    default:
  }
  return errorType(refusalType(refused)).hint;
}
