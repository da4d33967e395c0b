import { CAMPAIGN_KEYS, type CampaignInput } from '../../domain/campaign/plan';
import { unknownKey } from '../../domain/known-keys';
import { milliseconds } from '../inputs';

/** Why a campaign cannot start; undefined when it can. Clients check first: a throw in workflow code would hang it. */
export function inputIssue(input: CampaignInput): string | undefined {
  const unknown = unknownKey(input, CAMPAIGN_KEYS);
  if (unknown !== undefined) return unknown.message;
  if (typeof input?.manifest?.source !== 'object' || input.manifest.source === null)
    return 'manifest must be {source: {artifact} | {url} | {file}}.';
  for (const field of [
    'concurrency',
    'maxAttempts',
    'limit',
    'sample',
    'eventsPerRun',
    'rowsPerBatch',
  ] as const) {
    const value = input[field];
    if (value !== undefined && !(Number.isInteger(value) && value >= 1))
      return `${field} must be a whole number of at least 1.`;
  }
  if (input.waitFor !== undefined && milliseconds(input.waitFor) === undefined)
    return 'waitFor must be a duration such as "1h" or milliseconds.';
  const { priority, fairnessWeight, budget } = input;
  // With invalid values the server would refuse every start of a batch.
  if (priority !== undefined && !(Number.isInteger(priority) && priority >= 0))
    return 'priority must be a whole number from 1 to 5.';
  if (fairnessWeight !== undefined && !(Number.isFinite(fairnessWeight) && fairnessWeight >= 0))
    return 'fairnessWeight must be a positive number.';
  if (budget !== undefined && !(Number.isSafeInteger(budget?.microUnits) && budget.microUnits >= 0))
    return 'budget must be {microUnits, currency} with a whole number of micro-units.';
  return undefined;
}
