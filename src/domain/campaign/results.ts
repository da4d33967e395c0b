import {
  type Check,
  exactly,
  arrayOf,
  name,
  number,
  messageOf,
  optional,
  orNull,
  recordOf,
  whole,
} from '../shape';
import { type RowOutcome } from './row';

/**
 * Segments of ended rows, and their contribution to the totals. Segments are JSON Lines artifacts with one
 * `CampaignRowResult` per line.
 */
export interface SegmentTotals {
  /** SHA-256 of each segment. */
  readonly segments: readonly string[];
  readonly counts: RowCounts;
  /** Earlier outcomes of those rows that were resumed. */
  readonly replaced: RowCounts;
  /** How these rows change the money totals. */
  readonly money: MoneyTotals;
  /** Estimate of the cheapest row that was skipped for lack of money, in micro-units; null if none was skipped. */
  readonly cheapestSkipped: number | null;
}

/** Row outcomes in display order. */
export const ROW_OUTCOMES: readonly RowOutcome[] = [
  'completed',
  'failed',
  'still_running',
  'content_unavailable',
  'task_unknown',
  'unconfirmed',
  'rejected',
  'results_lost',
  'cancelled',
  'skipped_budget',
  'changed',
];

/** Number of rows by outcome. An outcome without rows is absent. */
export type RowCounts = { readonly [outcome in RowOutcome]?: number };

/**
 * Costs of attempts by billing state, in integer micro-units of one currency. The cost of an attempt is its bill if its
 * ledger line has one, or else its estimate.
 */
export interface MoneyTotals {
  /** Paid, according to bills. */
  readonly settled: number;
  /** Estimates of existing results without a bill. */
  readonly estimated: number;
  /** Reserved for tasks that are still running. */
  readonly reserved: number;
  /** Possibly charged, so a person has to check the bill. */
  readonly needsReview: number;
  /** Number of attempts that may have cost an unknown amount. */
  readonly unknown: number;
  /** Estimates of all attempts that may have cost money, also of those with a bill. */
  readonly estimate: number;
  /** Bills alone. */
  readonly actual: number;
  /** Number of attempts with a bill. */
  readonly billed: number;
}

/** All results of a campaign: `ResultsIndex` artifacts, followed by the segments that are not in an index yet. */
export interface ResultsRef {
  readonly v: 1;
  /** Number of the newest plan. */
  readonly generation: number;
  /** SHA-256 of each index. */
  readonly indexes: readonly string[];
  /** SHA-256 of each segment. */
  readonly segments: readonly string[];
  /** Rows by outcome, across all results. */
  readonly counts: RowCounts;
  /** Totals of all results, in micro-units. */
  readonly money: MoneyTotals;
  /** Currency of all amounts; null if no row has a price. */
  readonly currency: string | null;
  /** Plans that produced the results. Reports need them, because only the plans' pages contain the prompts. */
  readonly plans?: readonly PlanAddress[];
}

/** A plan's number, and the SHA-256 of its index artifact. */
export interface PlanAddress {
  readonly generation: number;
  readonly index: string;
}

/** An artifact that lists segments by their SHA-256, in order. */
export interface ResultsIndex {
  readonly v: 1;
  readonly segments: readonly string[];
}

/** Maximum number of artifacts in a message. No campaign has this many. */
const MAX_ARTIFACTS = 100_000;

const artifacts = arrayOf(name(), MAX_ARTIFACTS);
const counts: Check<RowCounts> = recordOf(number);
const money: Check<MoneyTotals> = messageOf({
  settled: number,
  estimated: number,
  reserved: number,
  needsReview: number,
  unknown: number,
  estimate: number,
  actual: number,
  billed: number,
});

export const segmentsCheck: Check<SegmentTotals> = messageOf({
  segments: artifacts,
  counts,
  replaced: counts,
  money,
  cheapestSkipped: orNull(number),
});

export const resultsCheck: Check<ResultsRef> = messageOf({
  v: exactly(1),
  generation: whole(-1),
  indexes: artifacts,
  segments: artifacts,
  counts,
  money,
  currency: orNull(name()),
  plans: optional(arrayOf(messageOf<PlanAddress>({ generation: whole(0), index: name() }), MAX_ARTIFACTS)),
});

export const NO_MONEY: MoneyTotals = {
  settled: 0,
  estimated: 0,
  reserved: 0,
  needsReview: 0,
  unknown: 0,
  estimate: 0,
  actual: 0,
  billed: 0,
};

export function addMoney(a: MoneyTotals, b: MoneyTotals, sign: 1 | -1 = 1): MoneyTotals {
  return {
    settled: a.settled + sign * b.settled,
    estimated: a.estimated + sign * b.estimated,
    reserved: a.reserved + sign * b.reserved,
    needsReview: a.needsReview + sign * b.needsReview,
    unknown: a.unknown + sign * b.unknown,
    estimate: a.estimate + sign * b.estimate,
    actual: a.actual + sign * b.actual,
    billed: a.billed + sign * b.billed,
  };
}

/** Returns the micro-units that count against a budget. */
export function sumOf({ settled, estimated, reserved, needsReview }: MoneyTotals): number {
  return settled + estimated + reserved + needsReview;
}

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

export const NO_SEGMENTS: SegmentTotals = {
  segments: [],
  counts: {},
  replaced: {},
  money: NO_MONEY,
  cheapestSkipped: null,
};

export function addSegments(a: SegmentTotals, b: SegmentTotals): SegmentTotals {
  return {
    segments: [...a.segments, ...b.segments],
    counts: addCounts(a.counts, b.counts),
    replaced: addCounts(a.replaced, b.replaced),
    money: addMoney(a.money, b.money),
    cheapestSkipped: cheaper(a.cheapestSkipped, b.cheapestSkipped),
  };
}

export function cheaper(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

export function withSegments(
  results: ResultsRef,
  { segments, counts, replaced, money }: SegmentTotals,
): ResultsRef {
  return {
    ...results,
    segments: [...results.segments, ...segments],
    counts: addCounts(addCounts(results.counts, counts), replaced, -1),
    money: addMoney(results.money, money),
  };
}
