import { ACTIVITY } from '../../domain/names';
import { NO_MONEY, type ResultsRef } from '../../domain/campaign/results';
import { failedByHand } from '../timers';
import { activity } from '../proxies';

export function noResults(): ResultsRef {
  return { v: 1, generation: -1, indexes: [], segments: [], counts: {}, money: NO_MONEY, currency: null };
}

/**
 * Writes an index of segments, so that one hash replaces many.
 * @returns a function that replaces them in the results, which may have got more segments meanwhile
 */
export async function foldSegments(
  segments: readonly string[],
): Promise<(results: ResultsRef) => ResultsRef> {
  const fold = activity(ACTIVITY.foldResults, { summary: `name ${segments.length} segments` });
  for (;;)
    try {
      const { sha256 } = await fold({ segments });
      return (results) => ({
        ...results,
        indexes: [...results.indexes, sha256],
        segments: results.segments.slice(segments.length),
      });
    } catch (error) {
      await failedByHand(error);
    }
}
