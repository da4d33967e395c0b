import { type FindPurchasesInput, type FoundPurchases } from '../../domain/campaign/activities';
import { type CreateJournal } from '../../domain/create-journal';
import { inLanes } from '../../domain/in-lanes';
import { startHeartbeat } from '../heartbeat';
import { caller } from '../paid-context';
import { begunBefore } from './begun-before';
import { type PageReader } from './page-reader';

/** Rows that are looked up in the journal at a time. */
const LOOKS = 16;

export interface FindPurchasesDeps {
  readonly pages: PageReader;
  /** @default 'none': nobody can say what was bought before */
  readonly journal?: CreateJournal | 'none';
}

/**
 * The body of `media.findPurchases`: what rows of pages have cost that no lane has opened yet, as far as the journal knows
 * and no results do. A parent that was reset or started again must not give out that money a second time. Beats with
 * counts only.
 */
export function createFindPurchases({ pages, journal = 'none' }: FindPurchasesDeps) {
  return async ({ campaign, ranges }: FindPurchasesInput): Promise<FoundPurchases> => {
    if (journal === 'none') return { found: [] };
    const { namespace } = caller(Date.now());
    const found: [range: number, page: number, microUnits: number][] = [];
    let looked = 0;
    const beat = startHeartbeat(() => ({ rows: looked }));
    try {
      for (const [range, { index, from, until }] of ranges.entries()) {
        for (let page = from; page < until; page += 1) {
          let money = 0;
          const { rows } = await pages.page({ index, page });
          await inLanes(rows, LOOKS, async (row) => {
            looked += 1;
            // What was bought with another text is not taken up again: it is on the books already.
            if (row.changed === true) return;
            const { bought = 0 } = await begunBefore(journal, namespace, campaign, row);
            money += bought * (row.estimate ?? 0);
          });
          if (money > 0) found.push([range, page, money]);
        }
      }
      return { found };
    } finally {
      beat.stop();
    }
  };
}
