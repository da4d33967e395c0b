import { type FindPurchasesInput, type FoundPurchases } from '../../domain/campaign/activities';
import { type CreateJournal } from '../../domain/create-journal';
import { startHeartbeat } from '../heartbeat';
import { begunOfRows } from './begun-before';
import { type PageReader } from './page-reader';

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
    const found: [range: number, page: number, microUnits: number][] = [];
    let looked = 0;
    const beat = startHeartbeat(() => ({ rows: looked }));
    try {
      for (const [range, { index, from, until }] of ranges.entries()) {
        for (let page = from; page < until; page += 1) {
          const { rows } = await pages.page({ index, page });
          // What was bought with another text is not taken up again: it is on the books already.
          const begun = await begunOfRows(journal, campaign, rows, ({ changed }) => changed !== true);
          const money = rows.reduce(
            (sum, { estimate }, place) => sum + (begun[place]?.bought ?? 0) * (estimate ?? 0),
            0,
          );
          looked += rows.length;
          if (money > 0) found.push([range, page, money]);
        }
      }
      return { found };
    } finally {
      beat.stop();
    }
  };
}
