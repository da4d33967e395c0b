import { ACTIVITY } from '../../domain/names';
import {
  addCounts,
  addMoney,
  subtractMoney,
  NO_MONEY,
  type ResultsRef,
  type SegmentEntry,
} from '../../domain/campaign/results';
import { failedByHand } from '../failed-by-hand';
import { campaignPagesActivities, countResultsActivity } from '../proxies';

export function noResults(): ResultsRef {
  return { v: 1, generation: -1, indexes: [], segments: [], counts: {}, money: NO_MONEY, currency: null };
}

/** A segment more, and what it adds to the totals. */
export function withSegment(
  results: ResultsRef,
  { sha256, counts, replaced, money }: SegmentEntry,
): ResultsRef {
  return {
    ...results,
    segments: [...results.segments, sha256],
    counts: addCounts(addCounts(results.counts, counts), replaced, -1),
    money: addMoney(results.money, money),
  };
}

/**
 * Names segments in an index, so that one hash stands for many.
 * @returns what puts it in their place; segments may have come meanwhile
 */
export async function foldSegments(
  segments: readonly string[],
): Promise<(results: ResultsRef) => ResultsRef> {
  const activities = campaignPagesActivities({ summary: `name ${segments.length} segments` });
  for (;;)
    try {
      const { sha256 } = await activities[ACTIVITY.foldResults]({ segments });
      return (results) => ({
        ...results,
        indexes: [...results.indexes, sha256],
        segments: results.segments.slice(segments.length),
      });
    } catch (error) {
      await failedByHand(error);
    }
}

/**
 * Rows that stand in two segments were counted twice: the totals are those of the lines that count.
 * @returns what puts them in their place; segments may have come meanwhile
 */
export async function recounted(counted: ResultsRef): Promise<(results: ResultsRef) => ResultsRef> {
  const count = countResultsActivity({ summary: 'count the results' });
  for (;;)
    try {
      const { counts, money } = await count(counted);
      return (results) => ({
        ...results,
        counts: addCounts(addCounts(results.counts, counted.counts, -1), counts),
        money: addMoney(subtractMoney(results.money, counted.money), money),
      });
    } catch (error) {
      await failedByHand(error);
    }
}
