/** An open batch as its last report shows it. Amounts in micro-units. */
export interface BatchNeeds {
  readonly batch: number;
  /** What the batch lacks: for its cheapest waiting row, and for all of them; null when it waits for no money. */
  readonly needs: { readonly row: number; readonly all: number } | null;
  /** Rows in flight whose end may give money back. */
  readonly settling: number;
}

/**
 * Decides what to do with the free money of a campaign. The campaign is out of money when every open batch waits for
 * some, nothing in flight can give any back, and what is free is too little for any waiting row. Its batches then end
 * their unbought rows as `skipped_budget` (workflows/campaign/end-unbought).
 * @param batches those whose last report is of now: it knows its present grant, and the batch has not ended
 * @param open number of all open batches
 * @returns the batch whose grant to raise and by how much, or that the money is spent; undefined: wait
 */
export function nextGrant(
  batches: readonly BatchNeeds[],
  open: number,
  free: number,
):
  | { readonly do: 'raise'; readonly batch: number; readonly want: number }
  | { readonly do: 'stop' }
  | undefined {
  const waiting = batches.flatMap(({ batch, needs, settling }) =>
    needs === null ? [] : [{ batch, needs, settling }],
  );
  const affordable = waiting.find(({ needs }) => needs.row <= free);
  if (affordable !== undefined) return { do: 'raise', batch: affordable.batch, want: affordable.needs.all };
  const isSpent = open > 0 && waiting.length === open && waiting.every(({ settling }) => settling === 0);
  return isSpent ? { do: 'stop' } : undefined;
}

/** Skipped rows and free money when skipped rows were last resumed. */
export interface SkippedRound {
  readonly skipped: number;
  readonly free: number;
}

/**
 * Whether skipped rows are resumed because money came back: as long as the cheapest of them fits, and each round buys
 * some. Amounts in micro-units; `free` is null without a budget, `cheapest` when no row was skipped.
 */
export function resumesSkipped(
  skipped: number,
  free: number | null,
  cheapest: number | null,
  last: SkippedRound | null,
): free is number {
  if (free === null || skipped === 0 || cheapest === null || free < cheapest) return false;
  return last === null || skipped < last.skipped || free > last.free;
}
