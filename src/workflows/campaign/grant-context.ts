import { type GrantContext } from '../../domain/campaign/grants';
import { sumOf } from '../../domain/campaign/results';
import { type Campaign } from './campaign';

/** What the blocks of a budget depend on; null without a budget. */
export function grantContext({ budget, before, doubles, plan, book }: Campaign): GrantContext | null {
  if (budget === null) return null;
  const found = book.foundMoney();
  const priced = plan === null ? 0 : plan.planned - plan.unpriced;
  return {
    budget: budget.microUnits,
    before: sumOf(before) - doubles.overcounted + found.lent + found.ahead,
    rowPrice: plan === null || priced === 0 ? 1 : plan.estimate / priced,
  };
}
