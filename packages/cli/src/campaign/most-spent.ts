import { type Money, type CampaignPlan } from 'temporal-media';
import { DEFAULT_MAX_ATTEMPTS } from 'temporal-media/internal/domain/campaign/plan';

/** Limits on what a plan may cost. */
export interface SpendBounds {
  /** How often a row is tried after capacity failures; each try may cost. */
  readonly maxAttempts?: number | undefined;
  readonly budget?: Money | undefined;
}

/** The most that a plan may cost with all its retries: never more than the budget. Null is unknown (C1.5). */
export function mostOf(plan: CampaignPlan, { maxAttempts, budget }: SpendBounds): Money | null {
  return mostSpent(withRetries(plan, maxAttempts), budget);
}

/** The cost without a budget if every row uses all its tries and every try costs. Null is unknown (C1.5). */
export function withRetries(
  {
    estimate,
    unpriced,
    started,
    currency,
  }: Pick<CampaignPlan, 'estimate' | 'unpriced' | 'started' | 'currency'>,
  maxAttempts = DEFAULT_MAX_ATTEMPTS,
): Money | null {
  // The attempt that a row has already started is paid for.
  const more = maxAttempts - 1;
  const sum = estimate * maxAttempts + started.estimate * more;
  if (unpriced > 0 || (more > 0 && started.unpriced > 0)) return null;
  return currency === null || !Number.isSafeInteger(sum) ? null : { microUnits: sum, currency };
}

/** Whether a plan may cause new cost. */
export function mayCost({ models, started }: CampaignPlan, maxAttempts = DEFAULT_MAX_ATTEMPTS): boolean {
  return models.length > 0 || (started.rows > 0 && maxAttempts > 1);
}

/** Limits a sum to the budget. */
export function mostSpent(sum: Money | null, budget: Money | undefined): Money | null {
  if (budget === undefined) return sum;
  if (sum !== null && sum.currency === budget.currency)
    return sum.microUnits < budget.microUnits ? sum : budget;
  return budget;
}
