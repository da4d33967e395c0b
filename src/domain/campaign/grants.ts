import { type LaneEntry } from './lane-entry';

/** Rows that a block of money should be enough for. */
const BLOCK_ROWS = 50;

/** What follows for the lanes. */
export type GrantStep =
  | { readonly do: 'nothing' }
  /** Some lanes got more. */
  | { readonly do: 'granted' }
  /** Unspent money was asked back: whoever starves waits for it. */
  | { readonly do: 'recalled' }
  /** All that is left fits no row that waits. */
  | { readonly do: 'spent' };

export interface GrantContext {
  /** Micro-units of the whole budget. */
  readonly budget: number;
  /** What earlier runs under the same id have on their books. */
  readonly before: number;
  /** Mean price of a planned row, in micro-units. */
  readonly rowPrice: number;
  /** More is out than there is, and no lane buys: what they hold unspent is asked back. Only where {@link freeMoney} is below zero. */
  readonly overdrawn?: boolean;
}

/** What of the budget no lane holds. */
export function freeMoney({ budget, before }: GrantContext, lanes: readonly LaneEntry[]): number {
  return budget - before - lanes.reduce((sum, { granted }) => sum + (granted ?? 0), 0);
}

/**
 * Gives lanes blocks of the budget; takes unspent ones back when one starves; says when the budget is spent: only after
 * every lane has said what it holds (design 4.11). Changes the entries; the sum of all grants never exceeds the budget.
 */
export function grantMoney(context: GrantContext, lanes: readonly LaneEntry[]): GrantStep {
  reclaim(lanes);
  let changed = false;
  let starving: LaneEntry | undefined;
  if (context.overdrawn === true)
    for (const lane of lanes)
      if (lane.granted !== null && lane.frozenBy === null && lane.granted > lane.committed)
        lane.frozenBy = Infinity;
  const give = (lane: LaneEntry, amount: number): boolean => {
    if (amount > freeMoney(context, lanes)) return false;
    lane.granted = (lane.granted ?? 0) + amount;
    changed = true;
    return true;
  };
  // Rows that wait go before stores of money.
  for (const lane of lanes) {
    const lacks = lacking(lane);
    if (lacks > 0 && lane.frozenBy === null && !give(lane, lacks)) starving ??= lane;
  }
  if (starving === undefined) {
    const block = Math.max(1, Math.round(context.rowPrice * BLOCK_ROWS));
    for (const lane of lanes) {
      if (lane.granted === null || lane.frozenBy !== null) continue;
      if (lane.granted - lane.committed >= block / 2) continue;
      const share = Math.floor(freeMoney(context, lanes) / (2 * lanes.length));
      if (share > 0) give(lane, Math.min(block, share));
    }
    return { do: changed ? 'granted' : 'nothing' };
  }
  // What is too little for each of them may be enough for the first. One that was just given what it needs uses it.
  const holders = lanes.filter(
    (lane) =>
      lane !== starving &&
      lane.frozenBy === null &&
      lane.granted !== null &&
      lane.granted > lane.committed &&
      !isServed(lane),
  );
  // Its number is set when the order is sent.
  for (const holder of holders) holder.frozenBy = Infinity;
  const awaited = lanes.some((lane) => lane.frozenBy !== null || (lane !== starving && isServed(lane)));
  return { do: holders.length > 0 || awaited ? 'recalled' : 'spent' };
}

/** What is missing for the row that waits; 0 when it fits. */
function lacking({ granted, committed, needs }: LaneEntry): number {
  return granted === null || needs === null ? 0 : Math.max(0, needs - (granted - committed));
}

/** Its row fits by now: what it says next tells what is left. */
function isServed(lane: LaneEntry): boolean {
  return lane.granted !== null && lane.needs !== null && lacking(lane) === 0;
}

/** A frozen lane that has answered holds what it has committed and nothing more. */
function reclaim(lanes: readonly LaneEntry[]): void {
  for (const lane of lanes) {
    if (lane.frozenBy === null || lane.granted === null || lane.ordersSeen < lane.frozenBy) continue;
    // Below zero where rows that were bought in another lane turned out to cost nothing here.
    lane.granted = lane.committed;
    lane.frozenBy = null;
  }
}
