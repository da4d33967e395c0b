import { type RowOutcome } from './row';

/**
 * Rows that ended, written by a lane: an artifact of JSON lines, one `CampaignRowResult` each.
 * What it adds to the totals stands beside it, so that nobody has to read it for them.
 */
export interface SegmentEntry {
  readonly sha256: string;
  readonly rows: number;
  readonly counts: RowCounts;
  /** Outcomes that these rows had before: they were taken up again. */
  readonly replaced: RowCounts;
  /** Change of the books by these rows. */
  readonly money: MoneyTotals;
}

export type RowCounts = { readonly [outcome in RowOutcome]?: number };

/** Micro-units of one currency; `unknown` counts attempts without a price. */
export interface MoneyTotals {
  readonly settled: number;
  readonly reserved: number;
  readonly needsReview: number;
  /** Attempts that may have cost something nobody can name. */
  readonly unknown: number;
}

/** All results of a campaign: artifacts of {@link ResultsIndex}, then segments that no index names yet, in order. */
export interface ResultsRef {
  readonly v: 1;
  /** Of the newest plan. */
  readonly generation: number;
  readonly indexes: readonly string[];
  readonly segments: readonly string[];
  /** What all of them come to: rows by outcome and money, so that nobody has to read them for it. */
  readonly counts: RowCounts;
  readonly money: MoneyTotals;
  readonly currency: string | null;
  /** Some rows may be counted twice in the totals: of a run that was ended before it had counted them again. */
  readonly doubled?: true;
  /** Plans that brought them: prompts stand in their pages and nowhere else. For reports. */
  readonly plans?: readonly PlanAddress[];
}

/** A plan by its number: SHA-256 of its index artifact. */
export interface PlanAddress {
  readonly generation: number;
  readonly index: string;
}

/** An artifact that names segments by their SHA-256, in order. */
export interface ResultsIndex {
  readonly v: 1;
  readonly segments: readonly string[];
}

export const NO_MONEY: MoneyTotals = { settled: 0, reserved: 0, needsReview: 0, unknown: 0 };

export function addMoney(a: MoneyTotals, b: MoneyTotals): MoneyTotals {
  return {
    settled: a.settled + b.settled,
    reserved: a.reserved + b.reserved,
    needsReview: a.needsReview + b.needsReview,
    unknown: a.unknown + b.unknown,
  };
}

export function subtractMoney(a: MoneyTotals, b: MoneyTotals): MoneyTotals {
  return {
    settled: a.settled - b.settled,
    reserved: a.reserved - b.reserved,
    needsReview: a.needsReview - b.needsReview,
    unknown: a.unknown - b.unknown,
  };
}

/** Micro-units that are out of a budget. */
export function sumOf({ settled, reserved, needsReview }: MoneyTotals): number {
  return settled + reserved + needsReview;
}

/** Rows that have a result. */
export function endedRows(counts: RowCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

export function addCounts(a: RowCounts, b: RowCounts, sign: 1 | -1 = 1): RowCounts {
  const sum: { [outcome in RowOutcome]?: number } = { ...a };
  for (const [outcome, count] of Object.entries(b) as [RowOutcome, number][]) {
    const next = (sum[outcome] ?? 0) + sign * count;
    if (next === 0) delete sum[outcome];
    else sum[outcome] = next;
  }
  return sum;
}
