import { freeMoney, type GrantContext } from '../../domain/campaign/grants';
import { type LaneEntry } from '../../domain/campaign/lane-entry';
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

/**
 * More is out than there is: after a reset, rows stand on the books of two lanes. What one of them gives back when it learns
 * that another has them is no money, so none buys until less is out.
 */
export function isOverdrawn(context: GrantContext | null, lanes: readonly LaneEntry[]): boolean {
  return context !== null && freeMoney(context, lanes) < 0;
}
