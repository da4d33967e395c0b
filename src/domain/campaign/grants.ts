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
  const block = Math.max(1, Math.round(context.rowPrice * BLOCK_ROWS));
  let changed = false;
  let starving: LaneEntry | undefined;
  // Whoever waits goes first.
  const wanting = [...lanes].sort((a, b) => Number(b.needs !== null) - Number(a.needs !== null));
  for (const lane of wanting) {
    if (lane.granted === null || lane.frozenBy !== null) continue;
    const unspent = lane.granted - lane.committed;
    const asked = lane.needs !== null && unspent < lane.needs;
    if (!asked && unspent >= block / 2) continue;
    const free = freeMoney(context, lanes);
    const share = Math.floor(free / (2 * lanes.length));
    const wanted = Math.max(asked ? (lane.needs ?? 0) - unspent : 0, Math.min(block, share));
    if (wanted > 0 && wanted <= free) {
      lane.granted += wanted;
      changed = true;
    } else if (asked) starving ??= lane;
  }
  if (starving === undefined) return { do: changed ? 'granted' : 'nothing' };
  // What is too little for each of them may be enough for the first.
  const holders = lanes.filter(
    (lane) =>
      lane !== starving && lane.frozenBy === null && lane.granted !== null && lane.granted > lane.committed,
  );
  // Its number is set when the order is sent.
  for (const holder of holders) holder.frozenBy = Infinity;
  if (holders.length > 0 || lanes.some(({ frozenBy }) => frozenBy !== null)) return { do: 'recalled' };
  return { do: 'spent' };
}

/** A frozen lane that has answered holds what it has committed and nothing more. */
function reclaim(lanes: readonly LaneEntry[]): void {
  for (const lane of lanes) {
    if (lane.frozenBy === null || lane.granted === null || lane.ordersSeen < lane.frozenBy) continue;
    lane.granted = Math.max(lane.committed, 0);
    lane.frozenBy = null;
  }
}
