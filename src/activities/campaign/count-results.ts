import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type CountedResults } from '../../domain/campaign/activities';
import {
  addCounts,
  addMoney,
  NO_MONEY,
  type ResultsRef,
  type RowCounts,
} from '../../domain/campaign/results';
import { ledgerMoney } from '../../domain/campaign/row-result';
import { latestResults } from '../../manifest/results';
import { startHeartbeat } from '../heartbeat';

/**
 * The body of `media.countResults`: what the line of each row that counts comes to. For totals that cannot be summed up
 * from segments, because a row stands in two of them. Beats with counts only.
 */
export function createCountResults({ artifacts }: { readonly artifacts: Pick<ArtifactStore, 'read'> }) {
  return async (results: ResultsRef): Promise<CountedResults> => {
    let rows = 0;
    let counts: RowCounts = {};
    let money = NO_MONEY;
    const beat = startHeartbeat(() => ({ rows }));
    try {
      for await (const { outcome, ledger } of latestResults(artifacts, results)) {
        rows += 1;
        counts = addCounts(counts, { [outcome]: 1 });
        money = addMoney(money, ledgerMoney(ledger));
      }
      return { counts, money };
    } finally {
      beat.stop();
    }
  };
}
